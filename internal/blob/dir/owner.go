package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// makeFolders makes a folder and those above it. A file of that name shows when the folder is used.
func makeFolders(root *os.Root, folder string) error {
	if folder == "." {
		return nil
	}
	if err := makeFolders(root, path.Dir(folder)); err != nil {
		return err
	}
	err := root.Mkdir(folder, 0o750)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err == nil:
		inherit(root, folder)
	}
	return err
}

// inherit gives what root has made to the owner and group of the folder of the blobs, and a folder its mode too: root acts
// for a worker that is another user. Where root can't do so, as in some containers and on NFS, the kernel's choice stays.
func inherit(root *os.Root, name string) {
	if os.Geteuid() != 0 {
		return
	}
	top, err := root.Stat(".")
	if err != nil {
		return
	}
	uid, gid := ownerOf(top)
	if err := root.Lchown(name, uid, gid); err != nil {
		return
	}
	if made, err := root.Lstat(name); err == nil && made.IsDir() {
		_ = root.Chmod(name, top.Mode()&(fs.ModePerm|fs.ModeSetgid))
	}
}

// Denied looks at the folder and at most so many files and folders in it, and returns the first that a worker can't use, and
// why; empty: there is none. The worker is taken to be the folder's owner, or, if that is root, a member of its group.
func (b *Bucket) Denied(ctx context.Context, most int) (string, error) {
	const doing = "look at the folder of the blobs"
	root, err := openFolder(b.folder)
	if err != nil {
		return "", trouble(doing, err)
	}
	defer root.Close()
	top, err := root.Stat(".")
	if err != nil {
		return "", trouble(doing, err)
	}
	uid, gid := ownerOf(top)
	denied := ""
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		most--
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
			return nil
		case err != nil:
			return err
		case most < 0:
			return fs.SkipAll
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil
		}
		if owner, group := ownerOf(info); !mayUse(info, uid != 0 && owner == uid, group == gid, needs(name, info)) {
			denied = fmt.Sprintf("%s belongs to user %d and group %d, and has the mode %04o",
				path.Join(b.folder, name), owner, group, info.Mode().Perm())
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", trouble(doing, err)
	}
	return denied, nil
}

// needs are the rights that a worker needs: to read files and folders, and to write into its own folders.
func needs(name string, info fs.FileInfo) fs.FileMode {
	folder, _, _ := strings.Cut(name, "/")
	switch {
	case !info.IsDir():
		return 0o4
	case name == ".", name == unfinished, slices.Contains(blob.WorkerFolders(), folder+"/"):
		return 0o7
	}
	return 0o5
}

// mayUse reports whether the mode gives the rights to a user that is the owner, or else in the group, or else another.
func mayUse(info fs.FileInfo, isOwner, inGroup bool, rights fs.FileMode) bool {
	switch {
	case isOwner:
		rights <<= 6
	case inGroup:
		rights <<= 3
	}
	return info.Mode()&rights == rights
}

func ownerOf(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
