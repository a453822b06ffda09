package ocr

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	engines "github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The versions increase when the same document gives another derived one.
const (
	version     = 1 // by OCR
	textVersion = 2 // without
)

// recipeOf names everything that decides what is derived, except the bytes.
func (w *work) recipeOf() string {
	o := w.order
	if !pageimage.Has(w.source.Format) || o.engine == nil {
		return fmt.Sprintf("ocr@%d %s pages=%s %s", textVersion, w.deps.Extractor.Version(w.source.Format), o.pages,
			o.format)
	}
	a := o.engine.Abilities()
	return fmt.Sprintf("ocr@%d %s@%s dpi=%d side=%d pages=%s %s", version, engines.Identity(o.engine),
		o.engine.Version(), a.DPI, a.Side, o.pages, o.format)
}

// made returns the recipe that the document was derived by. One that was read in another way than usual, as while docling
// is down or where a model can't read a page, or only in part, is not reused: the next task reads it as usual.
func (w *work) made() string {
	switch {
	case w.other != "":
		return w.recipe + " fallback=" + w.other
	case w.info.Incomplete:
		return w.recipe + " incomplete"
	}
	return w.recipe
}

// reusable reports whether the document need not be read again: it was read completely by the same recipe, and the
// derived document still exists.
func (w *work) reusable(ctx context.Context, same *store.DerivedContent) (bool, error) {
	if same == nil || len(same.UnreadPages) > 0 || w.call.Task.Hints.Force {
		return false, nil
	}
	_, err := w.deps.Bucket.Stat(ctx, same.Blob)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the derived document: %w", err)
	}
	return true, nil
}

// folder has all derived documents in the tenant's container.
const folder = "derived/"

// maxSource is how many characters of the source's name are in the derived document's.
const maxSource = 700

// blobName returns the name of the n-th content of the job, e.g. "derived/in/scan.pdf/task-7.1.md". It is the same in
// every attempt, and differs for every other job and for a forced one: a recorded blob is never overwritten.
func (w *work) blobName(n int) string {
	name := w.order.payload.Blob
	if w.order.place.Address != nil {
		name = w.order.payload.Filename
	}
	if utf8.RuneCountInString(name) > maxSource {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:16])
	}
	return fmt.Sprintf("%s%s/%s.%d%s", folder, name, w.call.Task.ID, n, w.order.format.Extension())
}

// upload uploads the derived document to the container.
func (w *work) upload(ctx context.Context, path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return taskerr.Errorf(taskerr.TransientStorage, "the worker can't read its temporary file: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	if _, err := w.deps.Bucket.Put(ctx, name, file, w.order.format.ContentType()); err != nil {
		return fmt.Errorf("upload the derived document: %w", err)
	}
	return nil
}
