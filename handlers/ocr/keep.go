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

// version rises when the same document would become another derived one.
const version = 1

// recipeOf names everything but the bytes that decides what is derived.
func (w *work) recipeOf() string {
	o := w.order
	if !pageimage.Has(w.source.Format) || o.engine == nil {
		return fmt.Sprintf("ocr@%d %s pages=%s %s", version, w.deps.Extractor.Version(w.source.Format), o.pages,
			o.format)
	}
	a := o.engine.Abilities()
	return fmt.Sprintf("ocr@%d %s@%s dpi=%d side=%d pages=%s %s", version, engines.Identity(o.engine),
		o.engine.Version(), a.DPI, a.Side, o.pages, o.format)
}

// reusable reports whether the document need not be read again: it was, completely, by the same recipe, and what
// came of it is still there.
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

// folder is where all derived documents are, in the tenant's container.
const folder = "derived/"

// maxSource is the longest source's name that is part of the derived document's, in characters.
const maxSource = 700

// blobName is the name of the n-th content of the job, e.g. "derived/in/scan.pdf/task-7.1.md". It is the same in
// every attempt, and another for every other job and for a job that was forced: nothing that is recorded is ever
// overwritten.
func (w *work) blobName(n int) string {
	name := w.order.payload.Blob
	if utf8.RuneCountInString(name) > maxSource {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:16])
	}
	return fmt.Sprintf("%s%s/%s.%d%s", folder, name, w.call.Task.ID, n, w.order.format.Extension())
}

// upload puts the derived document into the container.
func (w *work) upload(ctx context.Context, path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return taskerr.Errorf(taskerr.TransientStorage, "the worker can't read its temporary file: %w", err)
	}
	defer func() { _ = file.Close() }() // it is only read
	if _, err := w.deps.Bucket.Put(ctx, name, file, w.order.format.ContentType()); err != nil {
		return fmt.Errorf("upload the derived document: %w", err)
	}
	return nil
}
