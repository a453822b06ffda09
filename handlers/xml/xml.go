// Package xml makes XML of invoices: a PDF goes through the gateway, and the answer becomes the blob results/<task
// id>.xml. Each call of the gateway is paid for, so the same bytes are sent once for each mapping and mode, whatever
// crashes and however many jobs ask at once: see answer.go. In the mode "checked" a model holds the gateway's reading
// against the text of the document. An invoice that carries its XML needs no gateway: mapping "embedded".
package xml

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/einvoice"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The stages, as job.Stages lists them.
const (
	stageValidating = "validating_input"
	stageFetching   = "fetching_source"
	stageConverting = "converting"
	stageChecking   = "checking"
	stageUploading  = "uploading_artifact"
	stageFinalizing = "finalizing"
)

// Gateway is what the task needs of gateway.Client.
type Gateway interface {
	Process(ctx context.Context, c gateway.Call) (gateway.Answer, error)
}

// Extractor is what the task needs of extract.Router.
type Extractor interface {
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// Store is what the task needs of the store.
type Store interface {
	store.Answers
	store.Derivations
	store.Decks     // tells whether an attempt still has its job
	store.Summaries // keeps the model's answers
}

// Deps are the dependencies of the task. All are required unless noted.
type Deps struct {
	Bucket    blob.Bucket
	Web       *source.Web // nil: only blobs are fetched
	Store     Store
	Gateway   Gateway // nil: GATEWAY_URL is not set, and only mapping "embedded" works
	Extractor Extractor
	Limits    extract.Limits
	TempDir   string // for the fetched file and the answers, in a private folder for each task
	Log       *slog.Logger
	// Concurrency is how many tasks run at a time; zero: no limit of their own.
	Concurrency int

	// Of the mode "checked".
	Chat       llm.Chat // nil: there is no model
	Window     int      // Chat's context in tokens, question and answer together
	Counter    llm.Counter
	MaxTokens  int     // that one task may use; zero: no limit
	Confidence float64 // from which on the gateway's reading is taken, 0-1
	NoChecks   string  // why documents may not go to the model; empty: they may
	// ExtractorNeeds is a service without which the Extractor reads less or nothing; empty: none.
	ExtractorNeeds taskerr.Dependency
}

// Handler handles xml tasks.
type Handler struct{ deps Deps }

var _ handlers.Selective = (*Handler)(nil)

// New returns a handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	return handlers.Spec{
		Type: task.XML, Stages: job.Stages[task.XML], Policy: job.Policies[task.XML], Concurrency: h.deps.Concurrency,
		Needs:   []taskerr.Dependency{taskerr.Database, taskerr.Storage, taskerr.Gateway},
		Payload: reflect.TypeFor[Payload](),
	}
}

// Needs implements handlers.Selective.
func (h *Handler) Needs(t task.Task) []taskerr.Dependency {
	needs := []taskerr.Dependency{taskerr.Database, taskerr.Storage}
	p, err := readPayload(t)
	if err != nil || p.Mapping == MappingEmbedded {
		return needs
	}
	if h.deps.Gateway != nil {
		needs = append(needs, taskerr.Gateway)
	}
	if p.Mode == Checked {
		if h.deps.Chat != nil {
			needs = append(needs, taskerr.Chat)
		}
		if d := h.deps.ExtractorNeeds; d != "" {
			needs = append(needs, d)
		}
	}
	return needs
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	_, err := readPayload(t)
	return err
}

// work is one attempt.
type work struct {
	*Handler
	call    handlers.Call
	payload Payload
	file    *source.File
	carried *einvoice.Invoice // the XML in the PDF; nil: none
	used    []taskerr.Dependency
	notes   []string // warnings
	memory  *handlers.Notes
	unkept  bool // the check is not kept for other tasks
	paid    int  // tokens of the model, of all attempts
}

// Handle makes XML of one invoice.
func (h *Handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	w := &work{Handler: h, call: c, memory: handlers.NewNotes(c)}
	out, err := w.do(ctx)
	return out, handlers.Stopped(ctx, err)
}

func (w *work) do(ctx context.Context) (out handlers.Outcome, err error) {
	if err := w.call.Progress.Stage(stageValidating); err != nil {
		return out, err
	}
	if w.payload, err = readPayload(w.call.Task); err != nil {
		return out, err
	}
	if err := w.able(); err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageFetching); err != nil {
		return out, err
	}
	fetcher := source.Fetcher{Bucket: w.deps.Bucket, Web: w.deps.Web}
	p := &w.payload
	if p.place, err = handlers.Locate(fetcher, p.place, &p.Filename, &p.blob); err != nil {
		return out, err
	}
	w.file, err = fetcher.Fetch(ctx, p.place, source.Options{
		TempDir: w.deps.TempDir, Bytes: w.deps.Limits.Bytes,
		Progress: func(fraction float64) { w.call.Progress.Report(fraction, "") },
	})
	if err != nil {
		return out, asIO(err)
	}
	defer w.file.Remove()
	p.Filename = cmp.Or(p.Filename, w.file.Name)
	if err := w.call.Progress.Stage(stageConverting); err != nil {
		return out, err
	}
	if err := w.look(ctx); err != nil {
		return out, err
	}
	made, err := w.convert(ctx)
	if err != nil {
		return out, err
	}
	if err := w.call.Progress.Stage(stageUploading); err != nil {
		return out, err
	}
	path, err := w.place(ctx, made)
	if err == nil {
		err = w.call.Progress.Stage(stageFinalizing)
	}
	if err != nil {
		w.withdraw(ctx, path)
		return out, err
	}
	return w.outcome(made, path), nil
}

// able reports what this worker lacks for the task.
func (w *work) able() error {
	switch p := w.payload; {
	case p.Mapping == MappingEmbedded:
		return nil
	case w.deps.Gateway == nil:
		return &taskerr.Error{
			Class: taskerr.ValidationError, Code: "XML_NO_GATEWAY",
			Message: `this worker has no gateway; set GATEWAY_URL, or ask for the XML in the PDF with the mapping "embedded"`,
		}
	case p.Mode == Checked && w.deps.NoChecks != "":
		return &taskerr.Error{
			Class: taskerr.ValidationError, Code: "XML_NO_CHECKS",
			Message: "payload.mode is checked: " + w.deps.NoChecks + `; send "direct"`,
		}
	case p.Mode == Checked && w.deps.Chat == nil:
		return &taskerr.Error{
			Class: taskerr.ValidationError, Code: "XML_NO_MODEL",
			Message: `payload.mode is checked, and LLM_PROVIDER is offline; set LLM_PROVIDER=openai and its key, or send "direct"`,
		}
	}
	return nil
}

func (w *work) convert(ctx context.Context) (made, error) {
	switch {
	case w.payload.Mapping == MappingEmbedded:
		return w.embedded()
	case w.payload.Mode == Checked:
		return w.checked(ctx)
	default:
		return w.direct(ctx)
	}
}

// uses notes a service that the task has used.
func (w *work) uses(d taskerr.Dependency) {
	if !slices.Contains(w.used, d) {
		w.used = append(w.used, d)
	}
}

// asIO gives an error of the container or of a temporary file the code of the contract.
func asIO(err error) error {
	e := taskerr.Classify(err)
	if e.Class != taskerr.TransientStorage || e.Code != "" || e.Dependency == taskerr.Database {
		return err
	}
	known := *e
	known.Code, known.Cause = gateway.CodeIO, err
	return &known
}
