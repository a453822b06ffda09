package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// undoTime is how long the removal of blobs may take when an upload has failed.
const undoTime = 20 * time.Second

// upload uploads the blobs of a deck.
type upload struct {
	*work
	deck  *deck.Deck
	sheet string   // the blob with the picture of all slides; empty: none
	names []string // of blobs that were written
}

// all uploads the pictures, the preview, and last the JSON that names them.
func (u *upload) all(ctx context.Context, p pictures) error {
	total := len(u.deck.Media) + len(p.slides) + 2
	done := func() { u.call.Progress.Report(float64(len(u.names))/float64(total), "") }
	for _, key := range slices.Sorted(maps.Keys(u.deck.Media)) {
		m := u.deck.Media[key]
		m.Blob = mediaName(u.deck.ID, key, extension(m.Type))
		if err := u.file(ctx, filepath.Join(u.media, key), m.Blob, m.Type); err != nil {
			return err
		}
		u.deck.Media[key] = m
		done()
	}
	for i, path := range p.slides {
		if err := u.file(ctx, path, slideName(u.deck.ID, i+1), "image/png"); err != nil {
			return err
		}
		done()
	}
	if p.sheet != "" {
		u.sheet = sheetName(u.deck.ID)
		if err := u.file(ctx, p.sheet, u.sheet, "image/png"); err != nil {
			return err
		}
	}
	var content bytes.Buffer
	if err := deck.Write(&content, u.deck); err != nil {
		return err
	}
	return u.put(ctx, &content, jsonName(u.deck.ID), "application/json")
}

// extensions are those of types of pictures.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/bmp": ".bmp", "image/tiff": ".tiff",
	"image/webp": ".webp", "image/svg+xml": ".svg", "image/x-emf": ".emf", "image/x-wmf": ".wmf",
}

func extension(kind string) string {
	if e := extensions[kind]; e != "" {
		return e
	}
	return ".bin"
}

func (u *upload) file(ctx context.Context, path, name, kind string) error {
	file, err := os.Open(path)
	if err != nil {
		return taskerr.Errorf(taskerr.TransientStorage, "the worker can't read its temporary file: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	return u.put(ctx, file, name, kind)
}

func (u *upload) put(ctx context.Context, content io.Reader, name, kind string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	u.names = append(u.names, name) // it may be there although the answer is an error
	if _, err := u.deps.Bucket.Put(ctx, name, content, kind); err != nil {
		return fmt.Errorf("upload the deck: %w", err)
	}
	return nil
}

// undo removes what was uploaded, unless another attempt has the job: its blobs have the same names. What can't be
// removed now, the next attempt overwrites.
func (u *upload) undo(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	if !store.Holds(ctx, u.deps.Store, u.call.Holder, mostActive) {
		return
	}
	for _, name := range u.names {
		if err := u.deps.Bucket.Remove(ctx, name); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return // the container does not answer
		}
	}
}
