package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Removal is the result of an ingest task whose payload says delete; the store adds document_id, deleted,
// chunks_deleted, and by kind what else is removed and what is kept.
type Removal struct {
	DocumentSet string `json:"document_set"` // as the task names it
	Filename    string `json:"filename"`     // as the task names it
}

// remove removes the document from the index, with all rows made of its text, in the transaction that completes the
// job. The blob belongs to the sender. With purge, blobs derived from it are removed before. The document is taken
// first, as in an ingest: the removal waits for an ingest in progress, and no other starts before its end. One that comes
// back after a later task removes nothing.
func (h *Handler) remove(ctx context.Context, c handlers.Call, p Payload) (handlers.Outcome, error) {
	staged, err := h.stageDocument(ctx, c, p)
	if err != nil {
		return handlers.Outcome{}, err
	}
	if staged.SupersededBy != "" {
		return h.superseded(c, p, staged)
	}
	if p.OnlyMissing && staged.Active != nil {
		there, err := h.hasBlob(ctx, staged.Active.Blob, p.Blob)
		if err != nil {
			return handlers.Outcome{}, err
		}
		if there {
			w := &work{Handler: h, call: c, payload: p, staged: staged}
			w.payload.Blob, w.payload.Metadata = staged.Active.Blob, nil
			return w.keep(source.Version{ETag: staged.Active.SourceETag, Modified: staged.Active.SourceModified}, store.Retention{})
		}
	}
	if err := c.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	args := store.Deletion{DocumentID: staged.DocumentID, Version: staged.Version}
	if p.Purge {
		if args.Purged, args.BlobsRemoved, err = h.purge(ctx, c, staged.DocumentID); err != nil {
			return handlers.Outcome{}, err
		}
	}
	return handlers.Outcome{
		Result:  Removal{DocumentSet: p.DocumentSet, Filename: p.Filename},
		Effects: []store.Effect{{Kind: store.EffectDeleteDocument, Args: args}},
	}, nil
}

// hasBlob reports whether the document's blob is there, or it is made of another one by now.
func (h *Handler) hasBlob(ctx context.Context, active, name string) (bool, error) {
	if active != name {
		return true, nil
	}
	_, err := h.deps.Bucket.Stat(ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the document's blob: %w", err)
	}
	return true, nil
}

// purge removes the blobs that were derived from the document, with decks and their pictures, and returns the names of
// those in rows. The commit removes their rows: whatever happens in between, the next attempt finds the rows and repeats
// the purge.
func (h *Handler) purge(
	ctx context.Context, c handlers.Call, documentID string,
) (purged []string, removed int, err error) {
	made, err := h.deps.Documents.MadeOf(ctx, documentID)
	if err != nil {
		return nil, 0, fmt.Errorf("ask what was made of the document: %w", err)
	}
	all := slices.Clone(made.Blobs)
	for _, deck := range made.Decks {
		pictures, err := h.pictures(ctx, deck)
		if err != nil {
			return nil, 0, err
		}
		all = append(append(all, pictures...), deck)
	}
	for _, source := range made.Sources {
		all = append(all, h.deps.KeptUnder(source)...)
	}
	for i, name := range all {
		switch err := h.deps.Bucket.Remove(ctx, name); {
		case errors.Is(err, blob.ErrNotFound):
		case err != nil:
			return nil, 0, fmt.Errorf("remove what was derived of the document: %w", err)
		default:
			removed++
		}
		c.Progress.Report(float64(i+1)/float64(len(all)), "")
	}
	return slices.Concat([]string{}, made.Blobs, made.Decks), removed, nil
}

// pictures are the blobs beside that of a deck.
func (h *Handler) pictures(ctx context.Context, deck string) (names []string, err error) {
	folder, ok := strings.CutSuffix(deck, ".json")
	if !ok {
		return nil, nil
	}
	for p, err := range h.deps.Bucket.List(ctx, folder+"/") {
		if err != nil {
			return nil, fmt.Errorf("look for the pictures of a deck: %w", err)
		}
		names = append(names, p.Name)
	}
	return names, nil
}
