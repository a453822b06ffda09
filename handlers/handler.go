// Package handlers defines task types for the engine. Each type has a package below this one. A new type needs such a
// package and one line in internal/app.
package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Handler handles the tasks of one type. It is safe for concurrent use.
type Handler interface {
	// Spec is constant.
	Spec() Spec
	// Check validates a task without I/O. Its error is a validation_error that names the field.
	Check(t task.Task) error
	// Handle runs the task. It stops soon after ctx is done, with an error that wraps context.Cause(ctx). It commits
	// nothing: lasting changes are in the Outcome's effects, or staged under the call's fence. Errors are
	// *taskerr.Error; any other, and a panic, is an internal_bug.
	Handle(ctx context.Context, c Call) (Outcome, error)
}

// Spec describes a type to the engine.
type Spec struct {
	Type   task.Type
	Stages []job.Stage
	Policy job.Policy
	// Needs are the services that tasks of the type need: none starts while the circuit breaker of one is open.
	Needs []taskerr.Dependency
	// Payload is a struct whose json tags name the members of a payload that are read, at its first level; nil: unknown, and none is checked.
	Payload reflect.Type
	// Concurrency is how many tasks of the type run at a time in one worker; zero: as many as there are slots.
	Concurrency int
}

// Selective is a Handler not all of whose tasks need all of the Spec's Needs.
type Selective interface {
	Handler
	// Needs are the services that a task needs, in place of the Spec's. It does no I/O; the task was checked.
	Needs(t task.Task) []taskerr.Dependency
}

// Call is one attempt at a task.
type Call struct {
	Task       task.Task
	Holder     store.Holder    // the right to stage work under this attempt's fence
	Attempt    int             // from 1; it repeats after an attempt that is not counted, and in another series
	Last       bool            // no attempt follows if this one fails, and counts
	Checkpoint json.RawMessage // the earlier attempts' last Progress.Checkpoint; nil: none
	Progress   Progress
}

// Progress reports a handler's progress to the engine. Methods other than Save do no I/O and don't block: the engine
// coalesces them and writes them with its next heartbeat or commit.
type Progress interface {
	// Stage enters a stage of the handler's Spec. It returns context.Cause if the task must stop.
	Stage(name string) error
	// Report sets the completed fraction (0-1) of the current stage; message may be empty.
	Report(fraction float64, message string)
	// Pages sets how many pages of the document are done, and how many it has; total 0: not known yet. Later events
	// have them as metadata {"pages_completed": …, "total_pages": …}.
	Pages(completed, total int)
	// Checkpoint sets the JSON value for the next attempt, if any.
	Checkpoint(value any)
	// Delta streams a piece of a text, e.g. of a model's answer, to readers: an event with metadata {"delta": piece}.
	// The first piece of a text is written at once, the others a few times a second. restart: the text starts over and
	// earlier pieces are void; the event also has "restart": true. Under a fence above 1 the first piece restarts: an
	// earlier attempt may have streamed.
	Delta(piece string, restart bool)
	// Save writes all reports so far under the attempt's fence and returns when they are stored: the handler may then
	// rely on the checkpoint. While the store is unreachable it retries, for at most one lease. It returns
	// context.Cause if the task must stop, whether or not they were written.
	Save(ctx context.Context) error
}

// Outcome is success.
type Outcome struct {
	// Result is the webhook's and the row's result; it marshals to a JSON object. The engine adds
	// processing_time_ms, the store what the effects return.
	Result  any
	Effects []store.Effect
	// Unused are the services in the Spec's Needs that this task did not use: its success does not prove that they
	// are up.
	Unused []taskerr.Dependency
}

// Registry maps types to the handlers of a worker.
type Registry map[task.Type]Handler

// NewRegistry returns an error if two handlers have the same type.
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
