package ingest

import (
	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// keep is the outcome of a document that is what it was: no model call, no chunk written.
func (w *work) keep() (handlers.Outcome, error) {
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	active := w.staged.Active
	return handlers.Outcome{
		Result: Result{
			DocumentID: w.staged.DocumentID, DocumentSet: w.payload.DocumentSet, Filename: w.payload.Filename,
			Pages: active.Pages, Chunks: active.Chunks, Reused: active.Chunks, Characters: active.Characters,
			Extractor: active.Extractor, ContentSHA256: active.ContentSHA256, Unchanged: true,
		},
		Effects: []store.Effect{{Kind: store.EffectKeepDocument, Args: store.Keeping{
			DocumentID: w.staged.DocumentID, Version: w.staged.Version, Blob: w.payload.Blob,
			SourceETag: w.file.ETag, Metadata: w.payload.Metadata,
		}}},
	}, nil
}

// activate is the outcome of a document that was indexed: its staged version becomes the active one
// in the transaction that completes the job, and not before.
func (w *work) activate() (handlers.Outcome, error) {
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	result := Result{
		DocumentID: w.staged.DocumentID, DocumentSet: w.payload.DocumentSet, Filename: w.payload.Filename,
		Pages: w.info.Pages, Chunks: w.chunks, Embedded: int(w.embedded.Load()), Reused: int(w.reused.Load()),
		Characters: w.info.Characters, Extractor: w.info.Extractor, ContentSHA256: w.file.SHA256,
	}
	result.Warnings = w.warnings()
	return handlers.Outcome{
		Result: result,
		Effects: []store.Effect{{Kind: store.EffectActivateDocument, Args: store.Activation{
			DocumentID: w.staged.DocumentID, Version: w.staged.Version, Chunks: w.chunks,
			ContentSHA256: w.file.SHA256, Pipeline: w.pipeline, Pages: w.info.Pages, Characters: w.info.Characters,
			Extractor: w.info.Extractor, Title: w.info.Title, Blob: w.payload.Blob, SourceETag: w.file.ETag,
			Metadata: w.payload.Metadata,
		}}},
	}, nil
}
