package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// List implements blob.Bucket. It holds the names of one folder at a time, and of those above it.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Properties, error] {
	doing := fmt.Sprintf("list the blobs that begin with %q", prefix)
	return func(yield func(blob.Properties, error) bool) {
		root, err := openFolder(b.folder)
		if errors.Is(err, fs.ErrNotExist) {
			err = gone(doing)
		} else if err != nil {
			err = trouble(doing, err)
		}
		if err != nil {
			yield(blob.Properties{}, err)
			return
		}
		defer root.Close()
		// Only the folder of the prefix is walked.
		start := path.Dir(prefix + "x")
		err = fs.WalkDir(root.FS(), start, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid): // removed meanwhile, or the prefix is no folder
				return nil
			case err != nil:
				return err
			case entry.IsDir() && (name == unfinished || !related(name, prefix)):
				return fs.SkipDir
			case !entry.Type().IsRegular() || !strings.HasPrefix(name, prefix):
				return nil
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			p := blob.Properties{Name: name, Size: info.Size(), ModifiedAt: info.ModTime(), ETag: etag(info)}
			if !yield(p, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(blob.Properties{}, trouble(doing, err))
		}
	}
}

// related reports whether a folder may hold names that begin with the prefix.
func related(folder, prefix string) bool {
	folder += "/"
	return folder == "./" || strings.HasPrefix(folder, prefix) || strings.HasPrefix(prefix, folder)
}
