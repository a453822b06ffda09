package dir

import (
	"io/fs"
	"time"
)

// abandoned is the age from which a file among the uploads in progress is one of a process that was killed: nobody
// writes to it any more.
const abandoned = 24 * time.Hour

// tidy removes the abandoned uploads. One of PutNew may be a blob's second name: the blob keeps its own. What can't be
// removed costs room, and no more: the next process tries again.
func (b *Bucket) tidy() {
	root, err := openFolder(b.folder)
	if err != nil {
		return
	}
	defer root.Close()
	uploads, err := fs.ReadDir(root.FS(), unfinished)
	if err != nil {
		return // mostly there were none yet
	}
	for _, u := range uploads {
		info, err := u.Info()
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
			_ = root.Remove(unfinished + "/" + u.Name())
		}
	}
}
