package ingest

import (
	"context"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Removal is the result of an ingest task whose payload says delete; the store adds document_id, deleted and
// chunks_deleted.
type Removal struct {
	DocumentSet string `json:"document_set"`
	Filename    string `json:"filename"`
}

// remove takes the document out of the index: its rows, in the transaction that completes the job. The blob and
// what was derived from it are the sender's. The document is taken first, as for an ingest, so that the removal
// waits for an ingest that is under way, and no other begins before it is over.
func (h *Handler) remove(ctx context.Context, c handlers.Call, p payload) (handlers.Outcome, error) {
	staged, err := h.stageDocument(ctx, c, p)
	if err != nil {
		return handlers.Outcome{}, err
	}
	if err := c.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	return handlers.Outcome{
		Result: Removal{DocumentSet: p.DocumentSet, Filename: p.Filename},
		Effects: []store.Effect{{Kind: store.EffectDeleteDocument, Args: store.Deletion{
			DocumentID: staged.DocumentID, Version: staged.Version,
		}}},
	}, nil
}
