// Package dir is the bucket in a local folder, for development and for `extract FILE`. All access goes through
// os.Root: no name and no symbolic link leads out of the folder. Unlike Azure, a file system can't hold both "a" and
// "a/b", nor a segment of more than 255 bytes.
package dir

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/disk"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// unfinished is the folder of uploads in progress, on the same file system so that a rename is atomic.
const unfinished = ".unfinished-uploads"

// Bucket is one folder. Make it with New; it is safe for concurrent use.
type Bucket struct {
	folder string
	sync   func(root *os.Root, folder string) error // disk.Sync
}

var _ blob.Bucket = (*Bucket)(nil)

// New returns the bucket in folder, which Ensure creates. It doesn't touch the disk.
func New(folder string) *Bucket { return &Bucket{folder: folder, sync: disk.Sync} }

// Ensure implements blob.Bucket. It also removes what killed processes left.
func (b *Bucket) Ensure(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := ensureFolder(b.folder); err != nil {
		return trouble("create the folder of the blobs", err)
	}
	b.tidy()
	return nil
}

// Create creates the folder. Ensure does the same; the doctor asks for both.
func (b *Bucket) Create(ctx context.Context) error { return b.Ensure(ctx) }

// Exists returns blob.ErrNotFound unless the folder is there.
func (b *Bucket) Exists(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch info, err := os.Stat(b.folder); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at the folder of the blobs: %w", blob.ErrNotFound)
	case err != nil:
		return trouble("look at the folder of the blobs", err)
	case !info.IsDir():
		return taskerr.Errorf(taskerr.ValidationError, "the folder of the blobs is a file: %s", b.folder).
			WithHint("move that file away, or set BLOB_DIR to a folder")
	}
	return nil
}

// Stat implements blob.Bucket.
func (b *Bucket) Stat(ctx context.Context, name string) (blob.Properties, error) {
	p, file, err := b.Open(ctx, name)
	if err != nil {
		return blob.Properties{}, err
	}
	return p, file.Close()
}

// Open implements blob.Bucket. Put replaces whole files, so an open file keeps its content.
func (b *Bucket) Open(ctx context.Context, name string) (blob.Properties, io.ReadCloser, error) {
	doing := fmt.Sprintf("open blob %q", name)
	root, err := b.open(ctx, name, doing)
	if err != nil {
		return blob.Properties{}, nil, err
	}
	defer root.Close()
	// Opening must not wait: a pipe without a writer would block for ever.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return blob.Properties{}, nil, trouble(doing, err)
	}
	p, err := properties(name, file)
	if err != nil {
		_ = file.Close()
		return blob.Properties{}, nil, trouble(doing, err)
	}
	return p, &reader{File: file, ctx: ctx, opened: p}, nil
}

// OpenChanged implements blob.Bucket.
func (b *Bucket) OpenChanged(ctx context.Context, name, etag string) (blob.Properties, io.ReadCloser, error) {
	p, file, err := b.Open(ctx, name)
	if err != nil || p.ETag != etag {
		return p, file, err
	}
	_ = file.Close() // nothing was written to it
	return blob.Properties{}, nil, fmt.Errorf("open blob %q: %w", name, blob.ErrUnchanged)
}

// Put implements blob.Bucket. It does not keep the content type; readers get one from the name's extension.
func (b *Bucket) Put(ctx context.Context, name string, body io.Reader, _ string) (blob.Properties, error) {
	return b.put(ctx, name, body, func(root *os.Root, temporary string) error { return root.Rename(temporary, name) })
}

// PutNew implements blob.Bucket: a link, unlike a rename, replaces nothing.
func (b *Bucket) PutNew(ctx context.Context, name string, body io.Reader, _ string) (blob.Properties, error) {
	return b.put(ctx, name, body, func(root *os.Root, temporary string) error {
		if err := root.Link(temporary, name); err != nil {
			return err
		}
		return root.Remove(temporary)
	})
}

// TryWrite writes a file of so many bytes among the uploads in progress and removes it. A quota, a disk that fails and a
// file system that became read-only show only so.
func (b *Bucket) TryWrite(ctx context.Context, size int) error {
	_, err := b.put(ctx, "probe", bytes.NewReader(make([]byte, size)), func(root *os.Root, temporary string) error {
		return root.Remove(temporary)
	})
	return err
}

// put writes a temporary file, which finish gives its name. When it returns, file and name outlast a power failure: a job
// that is committed afterwards refers to them.
func (b *Bucket) put(
	ctx context.Context, name string, body io.Reader, finish func(root *os.Root, temporary string) error,
) (blob.Properties, error) {
	doing := fmt.Sprintf("write blob %q", name)
	root, err := b.open(ctx, name, doing)
	if err != nil {
		return blob.Properties{}, err
	}
	defer root.Close()
	for _, folder := range []string{unfinished, path.Dir(name)} {
		if err := makeFolders(root, folder); err != nil {
			return blob.Properties{}, trouble(doing, err)
		}
	}
	temporary := unfinished + "/" + rand.Text()
	file, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return blob.Properties{}, trouble(doing, err)
	}
	inherit(root, temporary)
	_, err = io.Copy(file, &contextReader{ctx, body})
	if err == nil {
		err = file.Sync()
	}
	p, statErr := properties(name, file)
	err = errors.Join(err, statErr, file.Close())
	if err == nil {
		err = finish(root, temporary)
	}
	if err != nil {
		return blob.Properties{}, trouble(doing, errors.Join(err, root.Remove(temporary)))
	}
	if err := b.settle(root, path.Dir(name)); err != nil {
		return blob.Properties{}, trouble(doing, err)
	}
	return p, nil
}

// settle makes the names on the way to a new file durable, also those of folders that another call has just made.
func (b *Bucket) settle(root *os.Root, folder string) error {
	for {
		if err := b.sync(root, folder); err != nil || folder == "." {
			return err
		}
		folder = path.Dir(folder)
	}
}

// Remove implements blob.Bucket. Folders stay.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	doing := fmt.Sprintf("remove blob %q", name)
	root, err := b.open(ctx, name, doing)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist // a folder is not a blob
	}
	if err == nil {
		err = root.Remove(name)
	}
	if err != nil {
		return trouble(doing, err)
	}
	return nil
}

// open checks the name and opens the folder.
func (b *Bucket) open(ctx context.Context, name, doing string) (*os.Root, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	if err := blob.CheckName(name); err != nil {
		return nil, err
	}
	if path.Clean(name) != name || strings.HasPrefix(name, unfinished) {
		return nil, taskerr.Errorf(taskerr.ValidationError, "the blob name %q can't be the name of a file", name)
	}
	root, err := openFolder(b.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone(doing)
	}
	if err != nil {
		return nil, trouble(doing, err)
	}
	return root, nil
}

// properties describe an open regular file.
func properties(name string, file *os.File) (blob.Properties, error) {
	info, err := file.Stat()
	if err != nil {
		return blob.Properties{}, err
	}
	if !info.Mode().IsRegular() { // a folder or a device is not a blob
		return blob.Properties{}, fs.ErrNotExist
	}
	return blob.Properties{
		Name: name, Size: info.Size(), ModifiedAt: info.ModTime(), ContentType: mime.TypeByExtension(path.Ext(name)),
		ETag: etag(info),
	}, nil
}

// etag changes with every Put, which creates a new file, and when somebody else writes to the file.
func etag(info fs.FileInfo) string {
	inode := uint64(0)
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = s.Ino
	}
	return fmt.Sprintf(`"%x-%x-%x"`, inode, info.ModTime().UnixNano(), info.Size())
}

// trouble turns an error of the file system into a sentinel or a task error.
func trouble(doing string, err error) error {
	if link, ok := errors.AsType[*foreignLink](err); ok {
		err := taskerr.Errorf(taskerr.DependencyUnavailable, "%s: root doesn't follow %s, a link of user %d or in a folder that "+
			"is not root's; if it is right, set BLOB_DIR to the folder that it leads to, else remove it", doing, link.path, link.owner)
		err.Hint = "a link in the path of BLOB_DIR may lead to another tenant's documents: find out who made it"
		return down(err)
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", doing, blob.ErrExists)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("%s: %w", doing, blob.ErrNotFound)
	case strings.Contains(err.Error(), "path escapes"): // os.Root exports no error for a link that leads out
		return taskerr.Errorf(taskerr.ValidationError, "%s: a link leads out of the folder of the blobs", doing).
			WithHint("put the file itself there in place of the link")
	case errors.Is(err, syscall.ENAMETOOLONG):
		return taskerr.Errorf(taskerr.ValidationError, "%s: a part of the name is too long for the disk", doing)
	case errors.Is(err, fs.ErrPermission):
		return down(taskerr.Errorf(taskerr.DependencyUnavailable,
			"%s: permission denied; give this user access to the folder of the blobs (%w)", doing, err))
	}
	return down(taskerr.Errorf(taskerr.TransientStorage, "%s: %w", doing, err))
}

// gone is the error of a folder that is not there.
func gone(doing string) error {
	err := taskerr.Errorf(taskerr.DependencyUnavailable, "%s: the folder of the blobs doesn't exist", doing)
	err.Hint = "BLOB_DIR doesn't exist: mount its disk, or restore the folder"
	return down(err)
}

// down blames the file system for an error, e.g. a mount that is gone; the circuit breaker counts it.
func down(err *taskerr.Error) *taskerr.Error {
	err.Dependency = taskerr.Storage
	return err
}
