// Package convert makes decks of documents: it fetches the blob, reads a presentation as it is or any other document
// along its structure, draws a preview, and uploads the deck's JSON with its pictures. The deck's row is recorded in the
// transaction that completes the job.
package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
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
	stageValidating  = "validating_input"
	stageFetching    = "fetching_source"
	stageExtracting  = "extracting"
	stageNormalizing = "normalizing"
	stagePreview     = "generating_preview"
	stageFinalizing  = "finalizing"
)

// mostActive is how many jobs convert one document at a time.
const mostActive = 1

// noteExtractor is the extractor's note for the next attempt.
const noteExtractor = "extract"

// Deps are the dependencies of the convert task. All are required unless noted.
type Deps struct {
	Bucket    blob.Bucket
	Web       *source.Web // nil: only blobs are fetched
	Store     Store
	Extractor Extractor // for documents that are not presentations
	Limits    extract.Limits
	Fonts     *fonts.Library // for previews
	Soffice   bool           // previews are drawn by LibreOffice, and else by our own drawing
	TempDir   string         // for the fetched file and what is made of it, in a private folder for each task

	Chat      llm.Chat        // nil: there is no model; the text of documents is on their slides as it is
	Window    int             // Chat's context in tokens, question and answer together; zero: unknown
	Counter   llm.Counter     // of Chat's tokens; nil only without Chat
	MaxTokens int             // that one task may use; zero: no limit
	Privacy   *privacy.Filter // of what is sent to Chat; nil: no search for personal data

	// ExtractorNeeds is a service without which the Extractor reads less or nothing; empty: none.
	ExtractorNeeds taskerr.Dependency
}

// Store is what the task needs of the store.
type Store interface {
	store.Decks
	DeckRow(ctx context.Context, id string) (store.DeckRow, error)
}

// Extractor is what the task needs of extract.Router.
type Extractor interface {
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// Handler handles convert tasks.
type Handler struct{ deps Deps }

// New returns a handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	needs := append([]taskerr.Dependency{taskerr.Database, taskerr.Storage}, h.documentsNeed()...)
	return handlers.Spec{
		Type: task.Convert, Stages: job.Stages[task.Convert], Policy: job.Policies[task.Convert], Needs: needs,
		Payload: reflect.TypeFor[Payload](),
	}
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	_, err := readPayload(t.Payload)
	return err
}

// Result is the result of the contract and some more; the store adds deck_id and result_path.
type Result struct {
	DeckID string `json:"deck_id,omitempty"`
	// the blob with the deck's JSON, in the tenant's container
	ResultPath string `json:"result_path,omitempty"`
	Slides     int    `json:"slides"` // in the deck
	// the blob with a picture of all slides; empty: none could be drawn
	PreviewPath string   `json:"preview_path"`
	Warnings    []string `json:"warnings" jsonschema:"required"` // what of the document the deck does not have

	Filename     string         `json:"filename"`        // as the task names it
	Title        string         `json:"title"`           // of the deck
	SourceFormat extract.Format `json:"source_format"`   // of the document, e.g. pptx
	Model        string         `json:"model,omitempty"` // that wrote the bullets; empty: none did
	Pictures     int            `json:"pictures"`        // blobs of pictures, each once
}

// work is one attempt to convert a document.
type work struct {
	*Handler
	call    handlers.Call
	payload Payload
	file    *source.File
	source  extract.Source
	media   string // the folder of the deck's pictures
	unused  []taskerr.Dependency
	notes   *handlers.Notes
	model   string // that wrote the bullets; empty: none did

	warnings []string
}

// Handle converts one document.
func (h *Handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	w := &work{Handler: h, call: c}
	out, err := w.do(ctx)
	return out, handlers.Stopped(ctx, err)
}

func (w *work) do(ctx context.Context) (out handlers.Outcome, err error) {
	if err := w.call.Progress.Stage(stageValidating); err != nil {
		return out, err
	}
	if w.payload, err = readPayload(w.call.Task.Payload); err != nil {
		return out, err
	}
	made, err := w.deps.Store.HoldDocument(ctx, w.call.Holder, mostActive)
	if err != nil {
		return out, fmt.Errorf("begin to work on the document: %w", err)
	}
	if err := w.fetch(ctx); err != nil {
		return out, err
	}
	defer w.file.Remove()
	if err := w.call.Progress.Stage(stageExtracting); err != nil {
		return out, err
	}
	d, err := w.read(ctx)
	if err != nil {
		return out, err
	}
	if d.ID, err = w.newID(ctx, made); err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stagePreview); err != nil {
		return out, err
	}
	pictures, err := w.preview(ctx, d)
	if err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return out, err
	}
	return w.finish(ctx, d, pictures)
}

// newID is the id of the deck: the first that no deck of the job has, of which there are so many. A deletion of their
// document may have removed some of them.
func (w *work) newID(ctx context.Context, made int) (string, error) {
	for n := made; ; n++ {
		id := deckID(w.call.Task.ID, n)
		_, err := w.deps.Store.DeckRow(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return id, nil
		case err != nil:
			return "", fmt.Errorf("look for the job's decks: %w", err)
		}
	}
}

// fetch downloads the document.
func (w *work) fetch(ctx context.Context) (err error) {
	if err := w.call.Progress.Stage(stageFetching); err != nil {
		return err
	}
	fetcher := source.Fetcher{Bucket: w.deps.Bucket, Web: w.deps.Web}
	p := &w.payload
	if p.place, err = handlers.Locate(fetcher, p.place, &p.Filename, &p.Blob); err != nil {
		return err
	}
	w.file, err = fetcher.Fetch(ctx, p.place, source.Options{
		TempDir: w.deps.TempDir, Bytes: w.deps.Limits.Bytes,
		Progress: func(fraction float64) { w.call.Progress.Report(fraction, "") },
	})
	if err != nil {
		return err
	}
	p.Filename = cmp.Or(p.Filename, w.file.Name)
	w.source, err = extract.Open(w.file.Path, w.file.Hint(p.Filename))
	if err != nil {
		w.file.Remove()
		return err
	}
	w.source.TempDir, w.source.SHA256 = w.file.Dir, w.file.SHA256
	w.notes = handlers.NewNotes(w.call)
	w.source.Memory = w.notes.Note(noteExtractor)
	return nil
}

// finish uploads the deck with its pictures, and makes the outcome. What was uploaded is removed if not all of it could
// be: nothing partial is left.
func (w *work) finish(ctx context.Context, d *deck.Deck, p pictures) (out handlers.Outcome, err error) {
	u := &upload{work: w, deck: d}
	if err := u.all(ctx, p); err != nil {
		u.undo(ctx)
		return out, err
	}
	result := Result{
		Slides: len(d.Slides), PreviewPath: u.sheet, Warnings: append([]string{}, w.warnings...), Filename: w.payload.Filename,
		Title: d.Title, SourceFormat: w.source.Format, Pictures: len(d.Media), Model: w.model,
	}
	return handlers.Outcome{Result: result, Unused: w.unused, Effects: []store.Effect{{
		Kind: store.EffectRecordDeck,
		Args: store.DeckRecord{
			ID: d.ID, SourceFilename: w.payload.Filename, SourceSHA256: w.file.SHA256, Title: d.Title, Slides: len(d.Slides),
			Blob: jsonName(d.ID), PreviewBlob: u.sheet,
		},
	}}}, nil
}
