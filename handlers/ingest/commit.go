package ingest

import (
	"context"
	"slices"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// keep returns the outcome of an unchanged document: no chunk written. changed.Reading is set if the bytes differ but have
// the same text, changed.Again if they were read again, with less in them.
func (w *work) keep(of source.Version, changed store.Retention) (handlers.Outcome, error) {
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	active := w.staged.Active
	result := Result{
		DocumentID: w.staged.DocumentID, DocumentSet: w.payload.DocumentSet, Filename: w.payload.Filename,
		Pages: active.Pages, Chunks: active.Chunks, Reused: active.Chunks, Characters: active.Characters,
		Extractor: active.Extractor, ContentSHA256: active.ContentSHA256, Unchanged: true,
	}
	if changed.Reading != nil {
		result.Warnings = w.warnings()
	} else {
		result.Warnings = w.kept()
	}
	changed.DocumentID, changed.Version, changed.Blob = w.staged.DocumentID, w.staged.Version, w.payload.Blob
	changed.SourceETag, changed.SourceModified, changed.Metadata = of.ETag, of.Modified, w.payload.Metadata
	return handlers.Outcome{
		Result:  result,
		Effects: []store.Effect{{Kind: store.EffectKeepDocument, Args: changed}},
		Unused:  w.unused(),
	}, nil
}

// kept returns the warnings of the active version, which is kept without reading the document.
func (w *work) kept() []string {
	active := w.staged.Active
	all := slices.Clone(active.Warnings)
	switch {
	case active.Chunks == 0 && len(all) > 0: // they say so
	case active.Chunks == 0:
		all = append(all, "nothing of the document can be found: it had no text that could be read when it was indexed; with "+
			"hints.force it is read again")
	case w.deps.Contexts != nil && active.Contexts == 0:
		all = append(all, "its chunks have no context: it was indexed without; with hints.force the model is asked for them")
	}
	return all
}

// reading describes what was read of the blob.
func (w *work) reading() store.Reading {
	return store.Reading{
		ContentSHA256: w.file.SHA256, TextSHA256: w.text.sum(), Format: string(w.source.Format), Pipeline: w.made(),
		Pages: w.info.Pages, Characters: w.info.Characters, Extractor: w.info.Extractor,
		Enrichment: w.enrich.finish(w.info), PageLog: w.info.PageLog, Warnings: w.lacks(),
	}
}

// unused returns the services that this document did not need.
func (w *work) unused() []taskerr.Dependency {
	var all []taskerr.Dependency
	if !w.asked.Load() {
		all = append(all, taskerr.Model)
	}
	if w.deps.Contexts != nil && !w.contexts.ledger.proven() {
		all = append(all, taskerr.Contexts)
	}
	if d := w.deps.ExtractorNeeds; d != "" && w.info.Service != d {
		all = append(all, d)
	}
	return all
}

// activate returns the outcome of an indexed document: its staged version becomes active only in the transaction that
// completes the job. The store adds how many chunks were embedded, in all attempts.
func (w *work) activate(ctx context.Context) (handlers.Outcome, error) {
	reading := w.reading()
	staged, err := w.stageTerms(ctx, reading.Language)
	if err != nil {
		return handlers.Outcome{}, handlers.Stopped(ctx, err)
	}
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	requests, tokens := w.contexts.ledger.paid()
	return handlers.Outcome{
		Result: Result{
			ContextRequests: requests, ContextTokens: tokens,
			DocumentID: w.staged.DocumentID, DocumentSet: w.payload.DocumentSet, Filename: w.payload.Filename,
			Pages: w.info.Pages, Chunks: w.chunks, Characters: w.info.Characters, Extractor: w.info.Extractor,
			ContentSHA256: w.file.SHA256, Warnings: w.warnings(),
		},
		Effects: []store.Effect{{Kind: store.EffectActivateDocument, Args: store.Activation{
			Reading: reading, DocumentID: w.staged.DocumentID, Version: w.staged.Version, Chunks: w.chunks,
			Blob: w.payload.Blob, SourceETag: w.file.ETag, SourceModified: w.file.Modified, Metadata: w.payload.Metadata,
			TermsStaged: staged,
		}}},
		Unused: w.unused(),
	}, nil
}
