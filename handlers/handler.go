// Package handlers defines what a task type is to the engine. Each type has one package beneath it; a
// type is added by such a package and one line in internal/app.
package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Handler does the tasks of one type. It is safe for concurrent use.
type Handler interface {
	// Spec is constant.
	Spec() Spec
	// Check looks at a task without I/O. Its error is a validation_error that names the field.
	Check(t task.Task) error
	// Handle does the task. It stops soon after ctx is done, with an error that wraps
	// context.Cause(ctx). It commits nothing by itself: what shall last is in the Outcome's effects, or
	// staged under the call's fence. Errors are *taskerr.Error; any other, and a panic, is internal_bug.
	Handle(ctx context.Context, c Call) (Outcome, error)
}

// Spec is what the engine has to know of a type.
type Spec struct {
	Type   task.Type
	Stages []job.Stage
	Policy job.Policy
	// Needs are the services without which a task of the type can't be done: while the circuit breaker of
	// one is open, none is started.
	Needs []taskerr.Dependency
}

// Call is one attempt at one task.
type Call struct {
	Task       task.Task
	Holder     store.Holder    // the right to stage work under this attempt's fence
	Attempt    int             // 1 is the first
	Checkpoint json.RawMessage // what an earlier attempt left by Progress.Checkpoint; nil: none
	Progress   Progress
}

// Progress reports to the engine how far a handler is. Methods other than Save do no I/O and don't block: the
// engine coalesces them and writes them with its next heartbeat or commit.
type Progress interface {
	// Stage enters a stage of the handler's Spec. It returns context.Cause when the task is to stop.
	Stage(name string) error
	// Report sets the done fraction (0-1) of the current stage; message may be empty.
	Report(fraction float64, message string)
	// Pages sets how many pages of the document are done, and how many it has; total 0: not known yet. It goes with
	// the events from then on, as metadata {"pages_completed": …, "total_pages": …}.
	Pages(completed, total int)
	// Checkpoint sets the JSON value that the next attempt gets, if there is one.
	Checkpoint(value any)
	// Delta reports a piece of the text that the handler is getting, e.g. of a model's answer, to those who
	// read along: an event with metadata {"delta": piece}. The first piece of a text is written at once, the
	// others a few times a second. restart: the text starts again, and what came before is void; the event
	// also has "restart": true.
	Delta(piece string, restart bool)
	// Save writes what was told so far under the attempt's fence, and returns once the store has it: what
	// comes next may rely on the checkpoint. While the store is unreachable it retries, for one lease at most.
	// It returns context.Cause when the task is to stop, whether or not it was written.
	Save(ctx context.Context) error
}

// Outcome is success.
type Outcome struct {
	// Result is the webhook's and the row's result; it marshals to a JSON object. The engine adds
	// processing_time_ms, the store what the effects return.
	Result  any
	Effects []store.Effect
	// Unused are those of the Spec's Needs that this task turned out not to need: its success does not say
	// that they are up.
	Unused []taskerr.Dependency
}

// Registry is the handlers of a worker by type.
type Registry map[task.Type]Handler

// NewRegistry refuses two handlers of one type.
func NewRegistry(hs ...Handler) (Registry, error) {
	r := make(Registry, len(hs))
	for _, h := range hs {
		t := h.Spec().Type
		if _, twice := r[t]; twice {
			return nil, fmt.Errorf("handlers: two handlers of type %q", t)
		}
		r[t] = h
	}
	return r, nil
}

// Types lists the types in alphabetical order.
func (r Registry) Types() []task.Type { return slices.Sorted(maps.Keys(r)) }
