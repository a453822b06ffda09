// Package picture draws a page of a document that is in the index, for people who compare the text with the page.
package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/deck/preview"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var (
	// ErrNone reports a document that can't be drawn: it is not a PDF, too large, damaged, or no longer there.
	ErrNone = errors.New("the page has no picture")
	// ErrChanged reports bytes that are not those of the index.
	ErrChanged = errors.New("the document was replaced since it was read into the index")
	// ErrBusy reports that others draw.
	ErrBusy = errors.New("too many pages are being drawn")
)

const (
	// MaxBytes is the largest document that is drawn: it is fetched for each page.
	MaxBytes = 64 << 20
	width    = 1200 // pixels
	limit    = 20 * time.Second
	atOnce   = 2 // drawings
)

// Drawer draws pages of PDFs in a bucket, at most two at a time: tasks go first.
type Drawer struct {
	bucket  blob.Bucket
	tempDir string
	pool    *child.Pool
	slots   chan struct{}
}

// New returns a drawer whose files are in tempDir, and whose children take their memory from the pool.
func New(bucket blob.Bucket, tempDir string, pool *child.Pool) *Drawer {
	return &Drawer{bucket, tempDir, pool, make(chan struct{}, atOnce)}
}

// Page returns a page, numbered from 1, of the blob with the SHA-256, in hex, as a PNG of 1200 pixels' width. Errors:
// ErrNone, ErrChanged, ErrBusy, those of the bucket, or the context's cause.
func (d *Drawer) Page(ctx context.Context, name, sum string, page int) ([]byte, error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	default:
		return nil, ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp(d.tempDir, "picture-")
	if err != nil {
		return nil, fmt.Errorf("draw a page: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what remains is removed when the worker ends
	pdf, pictures := filepath.Join(dir, "source"), filepath.Join(dir, "pictures")
	if err := os.Mkdir(pictures, 0o700); err != nil {
		return nil, fmt.Errorf("draw a page: %w", err)
	}
	if err := d.fetch(ctx, name, sum, pdf); err != nil {
		return nil, err
	}
	files, err := preview.Render(ctx, pdf, pictures, preview.Options{Pages: []int{page}, Width: width, Time: limit, Pool: d.pool})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil: // damaged, or there is no such page
		return nil, fmt.Errorf("%w: %s", ErrNone, taskerr.Classify(err).Class)
	}
	return os.ReadFile(files[0])
}

// fetch writes the blob to a file, if it is a PDF with the hash.
func (d *Drawer) fetch(ctx context.Context, name, sum, to string) error {
	properties, content, err := d.bucket.Open(ctx, name)
	if errors.Is(err, blob.ErrNotFound) || err != nil && taskerr.Classify(err).Class == taskerr.ValidationError {
		return ErrNone // it was removed, or comes from a web address
	}
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // read-only
	if properties.Size > MaxBytes {
		return ErrNone
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("draw a page: %w", err)
	}
	hash, head := sha256.New(), &head{}
	n, err := io.Copy(io.MultiWriter(file, hash, head), io.LimitReader(content, MaxBytes+1))
	switch err = errors.Join(err, file.Close()); {
	case err != nil:
		return err
	case n > MaxBytes, !bytes.Contains(head.bytes, []byte("%PDF-")):
		return ErrNone
	case hex.EncodeToString(hash.Sum(nil)) != sum:
		return ErrChanged
	}
	return nil
}

// head keeps the first KiB, in which a PDF has its mark.
type head struct{ bytes []byte }

func (h *head) Write(b []byte) (int, error) {
	h.bytes = append(h.bytes, b[:min(len(b), 1024-len(h.bytes))]...)
	return len(b), nil
}
