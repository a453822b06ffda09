package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// journal collects what a handler reports until the next heartbeat or commit writes it.
// It implements handlers.Progress. Progress never falls (I8).
type journal struct {
	ctx   context.Context // of the work: Stage returns its cause
	obs   Observer
	ids   *ids
	spec  handlers.Spec
	span  *tracing.Attempt            // nil: no span
	dirty chan struct{}               // signaled, capacity 1, when there are notes to write
	now   chan struct{}               // likewise, when they should be written at once
	save  func(context.Context) error // writes it; see beat.save
	hurry func()                      // called with now; see keeper.start

	mu       sync.Mutex
	stage    string
	entered  time.Time
	progress int
	pages    json.RawMessage // metadata of every event; nil: none
	notes                    // not yet written
	text     text
	closed   bool
}

// notes are unwritten events and a checkpoint.
type notes struct {
	events     []store.Event
	within     *store.Event // the last report within the stage, written at most once per flush
	checkpoint json.RawMessage
}

func (n notes) empty() bool { return len(n.events) == 0 && n.within == nil && n.checkpoint == nil }

// all returns the events in their order.
func (n notes) all() []store.Event {
	if n.within == nil {
		return n.events
	}
	return append(slices.Clone(n.events), *n.within)
}

func (e *Engine) newJournal(ctx context.Context, a *attempt) *journal {
	return &journal{
		ctx: ctx, obs: e.obs, ids: e.ids, spec: a.spec, progress: a.begun.Progress, dirty: make(chan struct{}, 1),
		now: make(chan struct{}, 1),
	}
}

// Stage enters a stage of the handler's spec.
func (j *journal) Stage(name string) error {
	if err := j.ctx.Err(); err != nil {
		return context.Cause(j.ctx)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leaveStage()
	j.seal()
	j.stage, j.entered = name, time.Now()
	j.span.Stage(j.ctx, name)
	j.progress = max(j.progress, job.ProgressIn(j.spec.Stages, name, 0))
	j.within = nil
	j.add(j.event(""))
	return nil
}

// Report sets the completed fraction of the current stage.
func (j *journal) Report(fraction float64, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := max(j.progress, job.ProgressIn(j.spec.Stages, j.stage, fraction))
	if p == j.progress && message == "" {
		return
	}
	j.progress = p
	e := j.event(message)
	j.within = &e
	j.signal()
}

// Pages sets how many pages are done. Later events carry it.
func (j *journal) Pages(completed, total int) {
	text := fmt.Sprintf(`{"pages_completed":%d}`, completed)
	if total > 0 {
		text = fmt.Sprintf(`{"pages_completed":%d,"total_pages":%d}`, completed, total)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pages = json.RawMessage(text)
}

// Checkpoint stores a value for the next attempt. It panics if the value can't be marshaled, which is a bug.
func (j *journal) Checkpoint(value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("a checkpoint can't be written as JSON: %v", err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.checkpoint = raw
	j.signal()
}

// note adds an event of the engine.
func (j *journal) note(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(j.event(message))
}

// close ends the last stage. What a stray goroutine of a handler reports afterwards is never written.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leaveStage()
	j.span.Worked()
	j.closed = true
}

// take removes and returns the notes.
func (j *journal) take() notes {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.events) < maxUnwritten {
		j.seal()
	}
	n := j.notes
	j.notes = notes{}
	return n
}

// current is the stage that the handler is in, or ended in; empty: none declared.
func (j *journal) current() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stage
}

// LogValue is the stage at the time of a record.
func (j *journal) LogValue() slog.Value { return slog.StringValue(j.current()) }

// untake puts back notes that could not be written; the store ignores events that it already has. A report within the
// stage that was made since is newer and stays. The number of stages and maxUnwritten bound what accumulates during an
// outage of the store.
func (j *journal) untake(n notes) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(n.events, j.events...)
	if j.within == nil && len(j.events) == len(n.events) {
		j.within = n.within
	}
	if j.checkpoint == nil {
		j.checkpoint = n.checkpoint
	}
}

// rest returns the notes and keeps them, for a commit that may have to be retried.
func (j *journal) rest() notes {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seal()
	return j.notes
}

// kept drops the checkpoint, which the store has.
func (j *journal) kept() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.checkpoint = nil
}

func (j *journal) leaveStage() {
	if j.stage != "" && !j.closed {
		j.obs.StageTook(j.spec.Type, j.stage, time.Since(j.entered))
	}
}

func (j *journal) event(message string) store.Event {
	return store.Event{
		ID: j.ids.next(), At: time.Now(), Stage: j.stage, Progress: j.progress, Message: message, Metadata: j.pages,
	}
}

func (j *journal) add(e store.Event) {
	j.seal()
	j.events = append(j.events, e)
	j.signal()
}

func (j *journal) signal() { signal(j.dirty) }

// signal sends to a channel of capacity 1 without blocking.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
