// Package ingest makes a document findable: it fetches the blob, extracts its text, cuts it into
// chunks, embeds those that the tenant has no vector for, and stages a version of the document that
// becomes active in the same transaction that completes the job.
//
// A document that comes again passes four gates, the cheapest first, and each lets through only what
// changed: the blob's ETag (nothing is downloaded), the SHA-256 of its bytes (nothing is extracted), that
// of what was extracted (nothing is written), and the keys of its chunks (those that the tenant has
// are not embedded). hints.force opens the first three. See gates.go.
package ingest

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The stages, as job.Stages lists them.
const (
	stageValidating = "validating_input"
	stageFetching   = "fetching_source"
	stageDetecting  = "detecting"
	stageParsing    = "parsing"
	stageEnriching  = "enriching"
	stageChunking   = "chunking"
	stageEmbedding  = "embedding"
	stageIndexing   = "indexing"
	stageFinalizing = "finalizing"
)

// noteExtractor is what the extractor leaves for the next attempt.
const noteExtractor = "extract"

// Deps are what ingest works with. All are required, unless they say otherwise.
type Deps struct {
	Bucket    blob.Bucket
	Extractor Extractor
	Documents store.Documents
	Embedder  llm.Embedder
	Counter   llm.Counter
	Limits    extract.Limits
	Privacy   *privacy.Filter // nil: personal data are not looked for
	TempDir   string          // for the fetched file; one private folder a task, removed at its end

	// Written gets the chunks that were staged: with vectors that were requested, and with those that were there. It
	// must not block. Nil: no call.
	Written func(embedded, reused int)
	// KeptUnder names blobs that may be kept under the hash of a document's bytes, by an extractor for example. Nil:
	// none.
	KeptUnder func(sha256 string) []string
	// ExtractorNeeds is a service without which the Extractor reads nothing, or not all; empty: none.
	ExtractorNeeds taskerr.Dependency
}

// Extractor is what ingest needs of extract.Router.
type Extractor interface {
	// Version names the extractor of a format and its version, e.g. "native/pdf@1".
	Version(f extract.Format) string
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// Handler does ingest tasks.
type Handler struct{ deps Deps }

// New returns a handler.
func New(deps Deps) *Handler {
	if deps.Written == nil {
		deps.Written = func(int, int) {}
	}
	if deps.KeptUnder == nil {
		deps.KeptUnder = func(string) []string { return nil }
	}
	return &Handler{deps: deps}
}

// Spec is that of the contract.
func (h *Handler) Spec() handlers.Spec {
	needs := []taskerr.Dependency{taskerr.Database, taskerr.Storage, taskerr.Model}
	if d := h.deps.ExtractorNeeds; d != "" {
		needs = append(needs, d)
	}
	if h.deps.Privacy.Mode() == privacy.Redact {
		needs = append(needs, taskerr.Privacy)
	}
	return handlers.Spec{
		Type: task.Ingest, Stages: job.Stages[task.Ingest], Policy: job.Policies[task.Ingest], Needs: needs,
	}
}

// Check reads the payload.
func (h *Handler) Check(t task.Task) error {
	_, err := readPayload(t.Payload)
	return err
}

// Result is the result of the contract; the store adds what only the commit knows (the version).
type Result struct {
	DocumentID    string   `json:"document_id"`        // of its row
	DocumentSet   string   `json:"document_set"`       // as the task names it
	Filename      string   `json:"filename"`           // as the task names it
	Title         string   `json:"title,omitempty"`    // that the document states, or its first heading
	Language      string   `json:"language,omitempty"` // ISO 639-1, a BCP 47 tag, or und
	Pages         int      `json:"pages"`              // of the document; 0: the format has none
	Chunks        int      `json:"chunks"`             // that are in the index
	Embedded      int      `json:"chunks_embedded"`    // for which the model was asked
	Reused        int      `json:"chunks_reused"`      // that were known already
	Characters    int      `json:"characters"`         // of its text
	Extractor     string   `json:"extractor"`          // what read it, e.g. native/pdf
	ContentSHA256 string   `json:"content_sha256"`     // of the blob, in hexadecimal
	Unchanged     bool     `json:"unchanged"`          // it says what it said before; nothing was written
	OCRPages      int      `json:"ocr_pages"`          // pages with text that was read by OCR
	Warnings      []string `json:"warnings,omitempty"` // what a reader of the document should know
}

// Handle ingests one document.
func (h *Handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	if err := c.Progress.Stage(stageValidating); err != nil {
		return handlers.Outcome{}, err
	}
	p, err := readPayload(c.Task.Payload)
	if err != nil {
		return handlers.Outcome{}, err
	}
	if p.Delete {
		return h.remove(ctx, c, p)
	}
	// The document is taken before its blob is fetched: so of two jobs that come at once, the one that ends
	// last has also looked last, and what it leaves is what the blob is.
	staged, err := h.stageDocument(ctx, c, p)
	if err != nil {
		return handlers.Outcome{}, err
	}
	w := &work{Handler: h, call: c, payload: p, staged: staged}
	if w.title, err = h.deps.Privacy.Text(ctx, p.title()); err != nil {
		return handlers.Outcome{}, err
	}
	return w.ingest(ctx)
}

func (h *Handler) stageDocument(ctx context.Context, c handlers.Call, p Payload) (store.StagedVersion, error) {
	staged, err := h.deps.Documents.StageDocument(ctx, store.Staging{
		Holder: c.Holder, DocumentSet: p.DocumentSet, Filename: p.Filename, Blob: p.Blob,
	})
	if err != nil {
		return staged, fmt.Errorf("stage the document: %w", err)
	}
	return staged, nil
}

// ingest takes the document through the gates, as far as it has to go.
func (w *work) ingest(ctx context.Context) (handlers.Outcome, error) {
	if err := w.call.Progress.Stage(stageFetching); err != nil {
		return handlers.Outcome{}, err
	}
	file, err := source.Fetch(ctx, w.deps.Bucket, w.payload.Blob, source.Options{
		TempDir: w.deps.TempDir, Bytes: w.deps.Limits.Bytes, Known: w.knownETag(),
		Progress: func(fraction float64) { w.call.Progress.Report(fraction, "") },
	})
	if errors.Is(err, blob.ErrUnchanged) {
		return w.keep(w.staged.Active.SourceETag, nil)
	}
	if err != nil {
		return handlers.Outcome{}, err
	}
	defer file.Remove()
	w.file = file
	if err := w.call.Progress.Stage(stageDetecting); err != nil {
		return handlers.Outcome{}, err
	}
	w.source, err = extract.Open(file.Path, w.payload.Filename)
	if err != nil {
		return handlers.Outcome{}, err
	}
	w.source.TempDir = file.Dir // with all that is made on the way it is gone in the end
	w.source.SHA256, w.source.Fresh = file.SHA256, w.call.Task.Hints.Force
	w.source.Memory = handlers.NewNotes(w.call).Note(noteExtractor)
	w.pipeline = w.pipelineID(w.source.Format)
	if w.sameBytes() {
		return w.keep(file.ETag, nil)
	}
	if err := w.index(ctx); err != nil {
		return handlers.Outcome{}, stopped(ctx, err)
	}
	if w.sameText {
		reading := w.reading()
		return w.keep(file.ETag, &reading)
	}
	return w.activate()
}

// stopped puts the reason for which the work had to stop before what broke because of that.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
