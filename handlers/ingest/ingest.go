// Package ingest makes a document findable: it fetches the blob, extracts its text, splits it into chunks, embeds those
// without a vector, and stages a version of the document that becomes active in the transaction that completes the job.
//
// A document that is ingested again passes four gates, the cheapest first, which stop what did not change: the blob's
// ETag (nothing is downloaded), the SHA-256 of its bytes (nothing is extracted), the SHA-256 of its text (nothing is
// written), and the keys of its chunks (known ones are not embedded). hints.force opens the first three. See gates.go.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"reflect"

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

// The notes for the next attempt.
const (
	noteExtractor = "extract"
	noteName      = "name" // of the document, as its server has it
)

// Deps are the dependencies of ingest. All are required unless noted.
type Deps struct {
	Bucket    blob.Bucket
	Web       *source.Web // nil: only blobs are fetched
	Extractor Extractor
	Documents store.Documents
	Embedder  llm.Embedder
	Counter   llm.Counter
	Limits    extract.Limits
	Privacy   *privacy.Filter // nil: no search for personal data
	TempDir   string          // for the fetched file, in a private folder for each task
	Contexts  *Contexts       // nil: no model is asked for contexts of chunks

	// Sources and Children are for payloads with a prefix; Sources also for addresses without a filename. Nil: these are
	// refused.
	Sources  store.Children
	Children Children

	// Written is called with the numbers of staged chunks: with new vectors, and with known ones. It must not block. It
	// may be nil.
	Written func(embedded, reused int)
	// KeptUnder returns the names of blobs that may be kept under the hash of a document's bytes, e.g. by an extractor.
	// Nil: none.
	KeptUnder func(sha256 string) []string
	// ExtractorNeeds is a service without which the Extractor reads less or nothing; empty: none.
	ExtractorNeeds taskerr.Dependency
}

// Extractor is what ingest needs of extract.Router.
type Extractor interface {
	// Version names the extractor of a format and its version, e.g. "native/pdf@1".
	Version(f extract.Format) string
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// Handler handles ingest tasks.
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

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	needs := []taskerr.Dependency{taskerr.Database, taskerr.Storage, taskerr.Model}
	if h.deps.Contexts != nil {
		needs = append(needs, taskerr.Contexts)
	}
	if d := h.deps.ExtractorNeeds; d != "" {
		needs = append(needs, d)
	}
	if h.deps.Privacy.Mode() == privacy.Redact {
		needs = append(needs, taskerr.Privacy)
	}
	return handlers.Spec{
		Type: task.Ingest, Stages: job.Stages[task.Ingest], Policy: job.Policies[task.Ingest], Needs: needs,
		Payload: reflect.TypeFor[Payload](),
	}
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	_, err := readPayload(t.Payload)
	return err
}

// Result is the result of the contract; the store adds what only the commit knows (the version).
type Result struct {
	DocumentID      string `json:"document_id"`                // of its row
	DocumentSet     string `json:"document_set"`               // as the task names it
	Filename        string `json:"filename"`                   // as the task names it
	Title           string `json:"title,omitempty"`            // that the document states, or its first heading
	Language        string `json:"language,omitempty"`         // ISO 639-1, a BCP 47 tag, or und
	Pages           int    `json:"pages"`                      // of the document; 0: the format has none
	Chunks          int    `json:"chunks"`                     // that are in the index
	Embedded        int    `json:"chunks_embedded"`            // for which the model was asked
	Reused          int    `json:"chunks_reused"`              // that were known already
	TokensSent      int    `json:"tokens_embedded"`            // of the chunks for which the model was asked
	TokensReused    int    `json:"tokens_reused"`              // of those that were known already
	Characters      int    `json:"characters"`                 // of its text
	Extractor       string `json:"extractor"`                  // what read it, e.g. native/pdf
	ContentSHA256   string `json:"content_sha256"`             // of the blob, in hexadecimal
	Unchanged       bool   `json:"unchanged"`                  // it says what it said before; nothing was written
	OCRPages        int    `json:"ocr_pages"`                  // pages with text that was read by OCR
	Contexts        int    `json:"chunks_with_context"`        // for which a model wrote a context (CONTEXT_MODE), now or before
	ContextRequests int    `json:"context_requests,omitempty"` // to the model for new contexts, in all attempts
	ContextTokens   int    `json:"context_tokens,omitempty"`   // of these, questions and answers together

	Warnings []string `json:"warnings,omitempty"` // what a reader of the document should know
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
	if p.Prefix != nil {
		return h.spread(ctx, c, p)
	}
	notes := handlers.NewNotes(c)
	if err := h.locate(ctx, notes, &p); err != nil {
		return handlers.Outcome{}, handlers.Stopped(ctx, err)
	}
	if p.Delete {
		return h.remove(ctx, c, p)
	}
	// The document is taken before its blob is fetched. Of two concurrent jobs, the one that ends last has thus also
	// read the blob last, and the index has the latest blob.
	staged, err := h.stageDocument(ctx, c, p)
	if err != nil {
		return handlers.Outcome{}, err
	}
	if staged.SupersededBy != "" {
		return h.superseded(c, p, staged)
	}
	w := &work{Handler: h, call: c, payload: p, notes: notes, staged: staged}
	if w.title, err = h.deps.Privacy.Text(ctx, p.title(staged.Active)); err != nil {
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

// ingest takes the document through the gates, as far as necessary.
func (w *work) ingest(ctx context.Context) (handlers.Outcome, error) {
	if err := w.call.Progress.Stage(stageFetching); err != nil {
		return handlers.Outcome{}, err
	}
	known := w.knownSource()
	file, err := w.fetcher().Fetch(ctx, w.payload.place, source.Options{
		TempDir: w.deps.TempDir, Bytes: w.deps.Limits.Bytes, Known: known,
		Progress: func(fraction float64) { w.call.Progress.Report(fraction, "") },
	})
	if errors.Is(err, source.ErrUnchanged) {
		return w.keep(known, store.Retention{})
	}
	if err != nil {
		return handlers.Outcome{}, err
	}
	defer file.Remove()
	w.file = file
	if err := w.call.Progress.Stage(stageDetecting); err != nil {
		return handlers.Outcome{}, err
	}
	w.source, err = extract.Open(file.Path, file.Hint(w.payload.Filename))
	if err != nil {
		return handlers.Outcome{}, err
	}
	w.source.TempDir = file.Dir // removed at the end, with all other files of the task
	w.source.SHA256, w.source.Fresh = file.SHA256, w.call.Task.Hints.Force
	w.source.Memory = w.notes.Note(noteExtractor)
	w.pipeline = w.pipelineID(w.source.Format)
	if w.sameBytes() {
		return w.keep(file.Version, store.Retention{})
	}
	if err := w.index(ctx); err != nil {
		return handlers.Outcome{}, handlers.Stopped(ctx, err)
	}
	if w.sameText {
		reading := w.reading()
		return w.keep(file.Version, store.Retention{Reading: &reading})
	}
	if err := w.spoils(ctx); err != nil {
		return handlers.Outcome{}, err
	}
	if w.worse() {
		return w.keep(file.Version, store.Retention{Again: w.again()})
	}
	return w.activate(ctx)
}
