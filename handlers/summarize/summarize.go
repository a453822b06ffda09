// Package summarize writes summaries that can be checked: it fetches the blob, reads it like an ingest, and asks a model
// for a summary with key points, each of which cites passages and their pages. A document that fits into a share of the
// model's context takes one call. A longer one is summarized in a tree: notes on each section, then notes on
// neighbouring notes, then the summary. Each answer is kept under the hash of its inputs, so that a retry repeats none,
// and the next version of a document only those that depend on changes. Numbers and quotations that the cited passages
// don't support are flagged.
//
// Without a model (LLM_PROVIDER=offline) a summary consists of the most representative sentences.
package summarize

import (
	"context"
	"log/slog"
	"reflect"
	"sync/atomic"

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
	stageValidating  = "validating_input"
	stageFetching    = "fetching_source"
	stageParsing     = "parsing"
	stagePreparing   = "preparing_context"
	stageSummarizing = "summarizing"
	stageFinalizing  = "finalizing"
)

// noteExtractor is the extractor's note for the next attempt.
const noteExtractor = "extract"

// Deps are the dependencies of the task. All are required unless noted.
type Deps struct {
	Bucket    blob.Bucket
	Web       *source.Web // nil: only blobs are fetched
	Extractor Extractor
	Store     store.Summaries
	Limits    extract.Limits
	Privacy   *privacy.Filter // nil: no search for personal data
	TempDir   string          // for the fetched file, in a private folder for each task
	Log       *slog.Logger

	Chat        llm.Chat    // nil: there is no model; Extracts is used instead
	Window      int         // Chat's context in tokens, question and answer together
	Counter     llm.Counter // of Chat's tokens
	MaxTokens   int         // that one task may use; zero: no limit
	Concurrency int         // concurrent calls
	Extracts    Extracts

	// Passages are the chunks of an ingest for this model, with the same keys.
	Chunks              llm.Counter
	EmbeddingModel      string
	EmbeddingDimensions int

	// ExtractorNeeds is a service without which the Extractor reads less or nothing; empty: none.
	ExtractorNeeds taskerr.Dependency
}

// Extractor is what summarize needs of extract.Router.
type Extractor interface {
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// Extracts chooses the most representative sentences of a text.
type Extracts interface {
	// Model is the name for the result's field model.
	Model() string
	// Sentences splits a text into sentences.
	Sentences(text string) []string
	// Choose returns the indexes of at most this many sentences and words, in order; zero: no limit.
	Choose(sentences []string, most, words int) []int
}

// Handler handles summarize tasks.
type Handler struct{ deps Deps }

// New returns a handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	needs := []taskerr.Dependency{taskerr.Database, taskerr.Storage}
	if h.deps.Chat != nil {
		needs = append(needs, taskerr.Chat)
	}
	if d := h.deps.ExtractorNeeds; d != "" {
		needs = append(needs, d)
	}
	if h.deps.Privacy.Mode() == privacy.Redact {
		needs = append(needs, taskerr.Privacy)
	}
	return handlers.Spec{
		Type: task.Summarize, Stages: job.Stages[task.Summarize], Policy: job.Policies[task.Summarize], Needs: needs,
		Payload: reflect.TypeFor[Payload](),
	}
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	_, err := readPayload(t.Payload)
	return err
}

// work is one attempt to summarize a document.
type work struct {
	*Handler
	call    handlers.Call
	payload Payload
	doc     document

	ledger      ledger
	shelf       shelf
	room        room // set between the runs of two plans
	asked       atomic.Bool
	refused     refusals
	longAnswers atomic.Bool // the model reasons: its answers need more tokens
	total       int         // nodes of the plan
	done        atomic.Int64
}

// Handle summarizes one document.
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
	if w.doc, err = w.read(ctx); err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stagePreparing); err != nil {
		return out, err
	}
	var r Result
	if w.deps.Chat == nil {
		r, err = w.extract(ctx)
	} else {
		r, err = w.write(ctx)
	}
	if err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageFinalizing); err != nil {
		return out, err
	}
	return w.outcome(r), nil
}

// write lets the model write the summary.
func (w *work) write(ctx context.Context) (Result, error) {
	root, err := w.compose(ctx)
	if err == nil && root.notes.Summary == "" && len(root.notes.Omitted) > 0 { // its sections were refused one by one
		err = noSummary(root.notes.Omitted[0].Reason)
	}
	if err != nil {
		if lost := w.ledger.lost(w.lostKey()); lost.PromptTokens > 0 {
			w.shelve(ctx, lost) // the next attempt counts it as paid
		}
		return Result{}, err
	}
	r := w.result(*root.notes)
	r.Model, r.Parts, r.PartsReused = w.deps.Chat.Model(), w.total, w.ledger.reused
	r.PromptTokens, r.CompletionTokens = w.ledger.prompt, w.ledger.answers
	return r, nil
}

// order returns the sender's requests for the summary.
func (w *work) order() order {
	o := order{style: w.payload.Style, language: w.payload.Language, words: w.payload.Style.words(), title: w.doc.title}
	if w.payload.MaxWords != nil {
		o.words = *w.payload.MaxWords
	}
	return o
}
