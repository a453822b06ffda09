// Package ocr reads documents and uploads their text: it fetches the blob, reads several pages at a time with an OCR
// engine, writes Markdown, text, hOCR or JSON, uploads it as a derived document, and records it in the transaction that
// completes the job. A document without page images needs no OCR: its text is extracted.
package ocr

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/derived"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/job"
	engines "github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The stages, as job.Stages lists them.
const (
	stageValidating  = "validating_input"
	stageFetching    = "fetching_source"
	stageRendering   = "rendering"
	stageRecognizing = "recognizing"
	stageUploading   = "uploading_artifact"
	stageFinalizing  = "finalizing"
)

// noteExtractor is for the next attempt.
const noteExtractor = "extract"

// Deps are the dependencies of the ocr task. All but NoEngine and Web are required.
type Deps struct {
	Bucket    blob.Bucket
	Web       *source.Web // nil: only blobs are fetched
	Store     store.Derivations
	Reader    pages.Reader // without OCR its engine is nil
	NoEngine  error        // why the Reader has no engine
	Extractor Extractor    // for documents that are not page images
	Limits    extract.Limits
	TempDir   string // for the fetched file and the derived one, in a private folder for each task
}

// Extractor is what the task needs of extract.Router.
type Extractor interface {
	Version(f extract.Format) string
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// Handler handles ocr tasks.
type Handler struct{ deps Deps }

// New returns a handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	needs := []taskerr.Dependency{taskerr.Database, taskerr.Storage}
	if e := h.deps.Reader.Engine; e != nil && e.Abilities().Service != "" {
		needs = append(needs, e.Abilities().Service)
	}
	return handlers.Spec{
		Type: task.OCR, Stages: job.Stages[task.OCR], Policy: job.Policies[task.OCR], Needs: needs,
		Payload: reflect.TypeFor[Payload](),
	}
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	_, err := h.read(t)
	return err
}

// Result is the result of the contract and some more; the store adds what only the commit knows (the id and
// the version of the derived content).
type Result struct {
	DerivedContentID string `json:"derived_content_id,omitempty"`
	// the blob with the text, in the tenant's container
	DerivedBlob string `json:"derived_blob"`
	Version     int    `json:"version,omitempty"` // of what is derived of the document
	// pages in the derived document; 1 for a format without pages
	PageCount int `json:"page_count"`
	// or the extractor, e.g. "native/docx", when no OCR was needed
	OCREngine    string         `json:"ocr_engine"`
	SourceFormat extract.Format `json:"source_format"` // of the document, e.g. pdf
	// 0-1, over all letters; null: unknown, as of an extractor
	MeanConfidence *float64 `json:"mean_confidence" jsonschema:"nullable"`

	Filename     string         `json:"filename"`            // as the task names it
	OutputFormat derived.Format `json:"output_format"`       // of the text
	Languages    []string       `json:"languages,omitempty"` // that were read with
	Model        string         `json:"model,omitempty"`     // that read, when the engine has one
	// it was there already: the same bytes, read in the same way
	Reused      bool     `json:"reused"`
	UnreadPages []int    `json:"unread_pages,omitempty"` // of which nothing could be read
	Warnings    []string `json:"warnings,omitempty"`     // what a reader of the document should know
	*engines.Usage
}

// work is one attempt to read a document.
type work struct {
	*Handler
	call   handlers.Call
	order  order
	file   *source.File
	source extract.Source
	recipe string
	info   extract.Info // of a document that was extracted
	other  string       // read the document, or pages of it, in place of the usual engine or extractor; empty: none did
}

// Handle reads one document.
func (h *Handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	w := &work{Handler: h, call: c}
	out, err := w.do(ctx)
	return out, handlers.Stopped(ctx, err)
}

func (w *work) do(ctx context.Context) (out handlers.Outcome, err error) {
	if err := w.call.Progress.Stage(stageValidating); err != nil {
		return out, err
	}
	if w.order, err = w.read(w.call.Task); err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageFetching); err != nil {
		return out, err
	}
	fetcher := source.Fetcher{Bucket: w.deps.Bucket, Web: w.deps.Web}
	p := &w.order.payload
	if w.order.place, err = handlers.Locate(fetcher, w.order.place, &p.Filename, &p.Blob); err != nil {
		return out, err
	}
	w.file, err = fetcher.Fetch(ctx, w.order.place, source.Options{
		TempDir: w.deps.TempDir, Bytes: w.deps.Limits.Bytes,
		Progress: func(fraction float64) { w.call.Progress.Report(fraction, "") },
	})
	if err != nil {
		return out, err
	}
	defer w.file.Remove()
	p.Filename = cmp.Or(p.Filename, w.file.Name)
	if w.source, err = extract.Open(w.file.Path, w.file.Hint(p.Filename)); err != nil {
		return out, err
	}
	w.source.TempDir, w.source.SHA256, w.source.Fresh = w.file.Dir, w.file.SHA256, w.call.Task.Hints.Force
	w.source.Memory = handlers.NewNotes(w.call).Note(noteExtractor)
	w.recipe = w.recipeOf()
	before, err := w.deps.Store.Derived(ctx, store.DerivedQuery{
		JobID: w.call.Task.ID, SourceFilename: w.order.payload.Filename, SourceSHA256: w.file.SHA256, Recipe: w.recipe,
	})
	if err != nil {
		return out, fmt.Errorf("ask what was made of the document: %w", err)
	}
	if same, err := w.reusable(ctx, before.Same); err != nil {
		return out, err
	} else if same {
		return w.reuse(*before.Same)
	}
	return w.derive(ctx, before.NewBlob(w.blobName))
}

// derive makes the derived document and uploads it. The commit records it. Until then nothing refers to the blob: after
// a crash the next attempt overwrites it under the same name.
func (w *work) derive(ctx context.Context, name string) (out handlers.Outcome, err error) {
	if err := w.call.Progress.Stage(stageRendering); err != nil {
		return out, err
	}
	made, err := w.write(ctx)
	if err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageUploading); err != nil {
		return out, err
	}
	if err := w.upload(ctx, made.path, name); err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return out, err
	}
	made.result.DerivedBlob = name
	made.result.Filename, made.result.OutputFormat, made.result.SourceFormat = w.order.payload.Filename, w.order.format,
		w.source.Format
	r := made.result
	return handlers.Outcome{Result: r, Effects: []store.Effect{{
		Kind: store.EffectRecordDerived,
		Args: store.DerivedRecord{
			SourceFilename: r.Filename, SourceBlob: w.order.payload.Blob, SourceSHA256: w.file.SHA256, Recipe: w.made(),
			Blob:   name,
			Format: string(r.OutputFormat), Engine: r.OCREngine, PageCount: r.PageCount,
			MeanConfidence: r.MeanConfidence, UnreadPages: r.UnreadPages,
		},
	}}}, nil
}

func (w *work) reuse(same store.DerivedContent) (handlers.Outcome, error) {
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	return handlers.Outcome{Result: Result{
		DerivedContentID: same.ID, DerivedBlob: same.Blob, Version: same.Version, PageCount: same.PageCount,
		OCREngine:    same.Engine,
		SourceFormat: w.source.Format, MeanConfidence: same.MeanConfidence, Filename: w.order.payload.Filename,
		OutputFormat: w.order.format, Reused: true,
		Warnings: append(w.adjusted(), slices.DeleteFunc(same.Warnings, ofTask)...),
	}}, nil
}
