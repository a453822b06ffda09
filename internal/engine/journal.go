package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// journal gathers what a handler tells of its progress until the next heartbeat or commit writes it.
// It implements handlers.Progress. Progress never falls (I8).
type journal struct {
	ctx   context.Context // of the work: its end is what Stage reports
	obs   Observer
	spec  handlers.Spec
	span  *tracing.Attempt            // nil: none is made
	dirty chan struct{}               // signaled, capacity 1, when there is something to write
	now   chan struct{}               // likewise, when it should not wait for more
	save  func(context.Context) error // writes it; see beat.save

	mu       sync.Mutex
	stage    string
	entered  time.Time
	progress int
	pages    json.RawMessage // metadata of every event; nil: it is not about pages
	notes                    // not yet written
	text     text
	closed   bool
}

// notes are what the store has to be told.
type notes struct {
	events     []store.Event
	within     *store.Event // the last word within the stage, written at most once a flush
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

func newJournal(ctx context.Context, obs Observer, spec handlers.Spec, progress int) *journal {
	return &journal{
		ctx: ctx, obs: obs, spec: spec, progress: progress, dirty: make(chan struct{}, 1), now: make(chan struct{}, 1),
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

// Report tells the done fraction of the current stage.
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

// Pages tells how many pages are done. They go with what is told of the progress then.
func (j *journal) Pages(completed, total int) {
	text := fmt.Sprintf(`{"pages_completed":%d}`, completed)
	if total > 0 {
		text = fmt.Sprintf(`{"pages_completed":%d,"total_pages":%d}`, completed, total)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pages = json.RawMessage(text)
}

// Checkpoint leaves a value for the next attempt. One that can't be marshaled is a bug: it panics.
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

// note adds a line of the engine's own.
func (j *journal) note(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(j.event(message))
}

// close ends the last stage; what a stray goroutine of a handler says afterwards is still gathered
// and goes nowhere.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leaveStage()
	j.span.Worked()
	j.closed = true
}

// take returns what is to be written, and forgets it.
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

// current is the stage that the handler is in, or was in when it ended; empty: it declared none.
func (j *journal) current() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stage
}

// LogValue is the stage at the time of a record.
func (j *journal) LogValue() slog.Value { return slog.StringValue(j.current()) }

// untake puts back what could not be written; the store ignores an event it has already. What was said
// within the stage since then is newer: what piles up while the store is away is bounded by the stages, and by
// maxUnwritten.
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

// rest returns what is still to be written and keeps it, for a commit that may have to be tried again.
func (j *journal) rest() notes {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seal()
	return j.notes
}

// kept forgets the checkpoint, which the store has.
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
		ID: uuid.NewString(), At: time.Now(), Stage: j.stage, Progress: j.progress, Message: message, Metadata: j.pages,
	}
}

func (j *journal) add(e store.Event) {
	j.seal()
	j.events = append(j.events, e)
	j.signal()
}

func (j *journal) signal() { signal(j.dirty) }

// signal notes in a channel of capacity 1 that something is to be done.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
