package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// mostLinks is the kernel's limit for one path.
const mostLinks = 40

// foreignLink is a link in the path of the folder that somebody other than root may have made.
type foreignLink struct {
	path  string
	owner int
}

func (e *foreignLink) Error() string { return e.path + " is a link that root doesn't follow" }

// openFolder opens the folder of the blobs. Root acts for a worker that may own a folder of the path, such as its state
// directory, and that could put a link to another tenant's folder there: root follows only links that are its own.
func openFolder(folder string) (*os.Root, error) {
	if os.Geteuid() != 0 {
		return os.OpenRoot(folder)
	}
	return walk(folder, false)
}

// ensureFolder makes the folder of the blobs, and those above it, unless they exist.
func ensureFolder(folder string) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(folder, 0o750)
	}
	root, err := walk(folder, true)
	if err != nil {
		return err
	}
	return root.Close()
}

// walk opens a path one name at a time, and makes the folders that are missing if it is to.
func walk(folder string, create bool) (*os.Root, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	for range mostLinks {
		root, elsewhere, err := descend(folder, create)
		if err != nil || root != nil {
			return root, err
		}
		folder = elsewhere
	}
	return nil, &fs.PathError{Op: "open", Path: folder, Err: syscall.ELOOP}
}

// descend opens the folder at the end of an absolute path; or, if there is a link on the way, returns the path with the
// link's target in its place.
func descend(folder string, create bool) (root *os.Root, elsewhere string, err error) {
	if root, err = os.OpenRoot("/"); err != nil {
		return nil, "", err
	}
	at := "/"
	names := strings.Split(strings.Trim(filepath.Clean(folder), "/"), "/")
	for i, name := range names {
		if name == "" { // of the path /
			break
		}
		next, target, err := step(root, at, name, create)
		_ = root.Close()
		if err != nil {
			return nil, "", err
		}
		if next == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(at, target)
			}
			return nil, filepath.Join(append([]string{target}, names[i+1:]...)...), nil
		}
		root, at = next, filepath.Join(at, name)
	}
	return root, "", nil
}

// step opens one folder in another; if the name is a link, it returns the link's target. A link that takes the folder's
// place meanwhile shows: it leads to something else than what the name was.
func step(in *os.Root, at, name string, create bool) (next *os.Root, target string, err error) {
	opened, openErr := in.OpenRoot(name)
	if create && errors.Is(openErr, fs.ErrNotExist) {
		if err := in.Mkdir(name, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, "", err
		}
		opened, openErr = in.OpenRoot(name)
	}
	if openErr == nil {
		defer func() {
			if next == nil {
				_ = opened.Close()
			}
		}()
	}
	info, err := in.Lstat(name) // after the open, which mounts what is to be mounted on demand
	if err != nil {
		return nil, "", err
	}
	owner, _ := ownerOf(info)
	link := &foreignLink{filepath.Join(at, name), owner}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err = follow(in, name, link)
		return nil, target, err
	}
	if create && !info.IsDir() {
		return nil, "", &fs.PathError{Op: "mkdir", Path: link.path, Err: syscall.ENOTDIR}
	}
	if openErr != nil {
		return nil, "", openErr
	}
	top, err := opened.Stat(".")
	if err != nil {
		return nil, "", err
	}
	if !os.SameFile(info, top) {
		return nil, "", link
	}
	return opened, "", nil
}

// follow returns the target of a link that nobody but root can have made.
func follow(in *os.Root, name string, link *foreignLink) (target string, err error) {
	info, err := in.Stat(".")
	if err != nil {
		return "", err
	}
	if folder, _ := ownerOf(info); folder != 0 || link.owner != 0 {
		return "", link
	}
	return in.Readlink(name)
}
