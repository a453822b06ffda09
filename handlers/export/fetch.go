package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// fetch reads the deck, and downloads the pictures that it shows.
func (w *work) fetch(ctx context.Context) error {
	name := w.payload.Blob
	if name == "" {
		row, err := w.deps.Store.DeckRow(ctx, w.payload.DeckID)
		if errors.Is(err, store.ErrNotFound) {
			return taskerr.Errorf(taskerr.ContentMissing, "there is no deck with the id %s; convert a document first", w.payload.DeckID)
		}
		if err != nil {
			return fmt.Errorf("look for the deck: %w", err)
		}
		name = row.Blob
	}
	_, body, err := w.deps.Bucket.Open(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return taskerr.Errorf(taskerr.ContentMissing, "the deck's blob %q is not in the tenant's container", name)
	}
	if err != nil {
		return fmt.Errorf("open the deck's blob: %w", err)
	}
	defer body.Close()
	if w.deck, err = deck.Read(body); err != nil {
		return err
	}
	return w.media(ctx)
}

// mediaKey is a SHA-256 in hex: what is not names no picture, and no file of ours.
var mediaKey = regexp.MustCompile(`^[0-9a-f]{64}$`)

// media downloads the pictures that the deck shows, each once.
func (w *work) media(ctx context.Context) error {
	folder := filepath.Join(w.dir, "media")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return source.NoRoom(err)
	}
	keys := w.deck.Shown()
	left := w.deps.Limits.WithDefaults().Bytes // of all of them
	for i, key := range keys {
		if !mediaKey.MatchString(key) {
			return handlers.Invalid("deck.media", "has a key that is not the SHA-256 of a picture, in hex")
		}
		n, err := w.download(ctx, key, w.deck.Media[key].Blob, left)
		if err != nil {
			return err
		}
		left -= n
		w.call.Progress.Report(float64(i+1)/float64(len(keys)), "")
	}
	return nil
}

// download saves a picture under its key, which its bytes must have as their hash.
func (w *work) download(ctx context.Context, key, name string, most int64) (int64, error) {
	if err := blob.CheckName(name); err != nil {
		return 0, handlers.Invalid("deck.media", "has a blob whose name is refused: %s", taskerr.Classify(err).Message)
	}
	_, body, err := w.deps.Bucket.Open(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return 0, taskerr.Errorf(taskerr.ContentMissing, "a picture of the deck is not in the tenant's container: %q", name)
	}
	if err != nil {
		return 0, fmt.Errorf("open a picture of the deck: %w", err)
	}
	defer body.Close()
	file, err := os.OpenFile(filepath.Join(w.dir, "media", key), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, source.NoRoom(err)
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(body, most+1))
	switch {
	case err != nil:
		return n, fmt.Errorf("download a picture of the deck: %w", err)
	case n > most:
		return n, taskerr.Errorf(taskerr.QuotaExceeded, "the pictures of the deck are larger than %d MB together (MAX_BLOB_MB)",
			w.deps.Limits.WithDefaults().Bytes>>20)
	case hex.EncodeToString(sum.Sum(nil)) != key:
		return n, taskerr.Errorf(taskerr.CorruptionDetected, "a picture of the deck is not the one that the deck names: %q was overwritten",
			name)
	}
	if err := file.Close(); err != nil {
		return n, source.NoRoom(err)
	}
	return n, nil
}

// open opens a picture of the deck or of the template.
func (w *work) open(key string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(w.dir, "media", filepath.Base(key)))
}
