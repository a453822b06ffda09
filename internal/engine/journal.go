package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// journal gathers what a handler tells of its progress until the next heartbeat or commit writes it.
// It implements handlers.Progress. Progress never falls (I8).
type journal struct {
	ctx   context.Context // of the work: its end is what Stage reports
	obs   Observer
	spec  handlers.Spec
	dirty chan struct{} // signaled, capacity 1, when there is something to write

	mu         sync.Mutex
	stage      string
	entered    time.Time
	progress   int
	events     []store.Event
	within     *store.Event // the last word within the stage, written at most once a flush
	checkpoint json.RawMessage
	closed     bool
}

func newJournal(ctx context.Context, obs Observer, spec handlers.Spec, progress int) *journal {
	return &journal{ctx: ctx, obs: obs, spec: spec, progress: progress, dirty: make(chan struct{}, 1)}
}

// Stage enters a stage of the handler's spec.
func (j *journal) Stage(name string) error {
	if err := j.ctx.Err(); err != nil {
		return context.Cause(j.ctx)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leaveStage()
	j.stage, j.entered = name, time.Now()
	j.progress = max(j.progress, job.ProgressIn(j.spec.Stages, name, 0))
	j.within = nil
	j.add(j.event(""))
	return nil
}

// Within tells the done fraction of the current stage.
func (j *journal) Within(fraction float64, message string) {
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
	j.closed = true
}

// take returns what is to be written, and forgets it.
func (j *journal) take() []store.Event {
	events, _ := j.takeAll()
	return events
}

func (j *journal) takeAll() ([]store.Event, json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	events, checkpoint := j.events, j.checkpoint
	if j.within != nil {
		events = append(events, *j.within)
	}
	j.events, j.within, j.checkpoint = nil, nil, nil
	return events, checkpoint
}

// untake puts back what could not be written; the store ignores an event it has already.
func (j *journal) untake(events []store.Event, checkpoint json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(events, j.events...)
	if j.checkpoint == nil {
		j.checkpoint = checkpoint
	}
}

func (j *journal) leaveStage() {
	if j.stage != "" && !j.closed {
		j.obs.StageTook(j.spec.Type, j.stage, time.Since(j.entered))
	}
}

func (j *journal) event(message string) store.Event {
	return store.Event{ID: uuid.NewString(), At: time.Now().UTC(), Stage: j.stage, Progress: j.progress, Message: message}
}

func (j *journal) add(e store.Event) {
	j.events = append(j.events, e)
	j.signal()
}

func (j *journal) signal() {
	select {
	case j.dirty <- struct{}{}:
	default:
	}
}
