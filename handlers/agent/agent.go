// Package agent answers questions about documents. A model gets read-only tools (search, read_chunks, outline, grep,
// list_documents) and ends by calling finish with its answer and citations. The task, not an argument, decides what the
// tools may read: the tenant and one document set. Tools mark text of documents as data. Each answer of the model is
// stored before the next is paid for, so that another attempt continues where the last one ended. Citations are checked
// against the passages that were read.
//
// A task of the type ai is the same without tools: one question to the model.
package agent

import (
	"context"
	"reflect"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The stages, as job.Stages lists them.
const (
	stagePreparing  = "preparing_context"
	stageSending    = "sending_prompt"
	stageStreaming  = "streaming_response"
	stageFinalizing = "finalizing"
)

// Store is what the tools read.
type Store interface {
	store.Passages
	search.Store
}

// Deps are the dependencies of the tasks.
type Deps struct {
	Store Store
	// Find searches the Store, by the vector of the query, too.
	Find    func(context.Context, search.Store, search.Query) (search.Found, error)
	Chat    llm.Chat    // nil: there is no model. The agent then answers with passages alone, and ai tasks are refused
	Offline Ranker      // finds the relevant sentences of passages; required without Chat
	Counter llm.Counter // counts the model's tokens, approximately
	Window  int         // the model's context in tokens, question and answer together
	// MaxTokens is how many tokens a task may use, in questions and answers together; zero: only max_steps limits it.
	MaxTokens int
	// StepTimeout limits one call of a tool; zero: 30 s. The Chat has its own timeout for answers.
	StepTimeout time.Duration
}

// Ranker ranks texts by a query, without a model.
type Ranker interface {
	Model() string // for the answer's field model
	// Sentences splits a text.
	Sentences(text string) []string
	// Rank returns the indexes of the texts that share words with the query, the best first. worth is how good a search
	// found the passage that each text is of, from 0 to 1.
	Rank(query string, texts []string, worth []float64) []int
}

// Handler handles tasks of the type agent, or ai.
type Handler struct {
	deps Deps
	kind task.Type
}

// New returns the handler of agent tasks.
func New(deps Deps) *Handler { return &Handler{deps.defaults(), task.Agent} }

// NewAI returns the handler of ai tasks. It needs only the model's dependencies.
func NewAI(deps Deps) *Handler { return &Handler{deps.defaults(), task.AI} }

func (d Deps) defaults() Deps {
	if d.StepTimeout <= 0 {
		d.StepTimeout = 30 * time.Second
	}
	return d
}

// Spec implements handlers.Handler.
func (h *Handler) Spec() handlers.Spec {
	return handlers.Spec{
		Type: h.kind, Stages: job.Stages[h.kind], Policy: job.Policies[h.kind],
		Needs:   []taskerr.Dependency{taskerr.Database, taskerr.Model, taskerr.Chat},
		Payload: reflect.TypeFor[Payload](),
	}
}

// Check implements handlers.Handler.
func (h *Handler) Check(t task.Task) error {
	p, err := readPayload(t.Payload)
	if err != nil || h.deps.Chat != nil {
		return err
	}
	switch {
	case h.kind == task.AI:
		return taskerr.Errorf(taskerr.ValidationError,
			"an ai task needs a model, and LLM_PROVIDER is offline; set LLM_PROVIDER=openai and its key")
	case p.shape != nil:
		return handlers.Invalid("payload.response_schema",
			"needs a model, and LLM_PROVIDER is offline; set LLM_PROVIDER=openai and its key, or leave it out")
	}
	return nil
}

// Handle answers one question.
func (h *Handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	out, err := h.handle(ctx, c)
	return out, handlers.Stopped(ctx, err)
}

func (h *Handler) handle(ctx context.Context, c handlers.Call) (out handlers.Outcome, err error) {
	if err := c.Progress.Stage(stagePreparing); err != nil {
		return out, err
	}
	p, err := readPayload(c.Task.Payload)
	if err != nil {
		return out, err
	}
	r := newRun(ctx, h, c, p)
	var a answer
	if h.deps.Chat == nil {
		a, err = r.retrieve(ctx)
	} else {
		a, err = r.converse(ctx)
	}
	if err != nil {
		return out, err
	}
	if err := c.Progress.Stage(stageFinalizing); err != nil {
		return out, err
	}
	return r.outcome(a)
}
