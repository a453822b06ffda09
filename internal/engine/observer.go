package engine

import (
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Observer receives what happens, for metrics and benchmarks. Its methods must not block.
type Observer interface {
	// Polled reports one request for messages: how many slots were free, how many messages came, and its error. Of a
	// look that takes no message both are zero.
	Polled(queue string, free, got int, err error)
	// Accepted reports a task whose job begins for the first time, or again on request, and for how long its message had
	// been on the queue since the task could start.
	Accepted(t task.Type, waited time.Duration)
	// Started reports the start of an attempt.
	Started(t task.Type, attempt int)
	// Ended reports the end of an attempt that was started.
	Ended(t task.Type, e Ending)
	// Finished reports that a job ended without an attempt of this worker: its message was rejected, its last attempt
	// was lost with another worker, or it was canceled before it ran.
	Finished(t task.Type, e Ending)
	// StageTook reports the duration of a stage.
	StageTook(t task.Type, stage string, took time.Duration)
	// Renewed reports a renewal of a lease; result is "ok", "lost", "uncertain" or "failed".
	Renewed(lease, result string)
}

// Ending is how an attempt ended.
type Ending struct {
	Outcome string        // a job state, Retried, Released or Lost
	Class   taskerr.Class // of the error; empty: none
	Attempt int           // from 1; of a job that ended without an attempt, how many it had
	Took    time.Duration // the attempt
	// from the start of the job's first attempt to its end; zero: not finished, or never started
	JobTook time.Duration
	// Warnings counts the warnings in the result of a job that succeeded.
	Warnings int
}

// The outcomes of attempts that don't end their job.
const (
	Retried  = "retry"    // another attempt follows
	Released = "released" // given back, the attempt not counted
	Lost     = "lost"     // the commit was refused, or never answered
)

// NopObserver is an Observer that does nothing.
type NopObserver struct{}

// Polled does nothing.
func (NopObserver) Polled(string, int, int, error) {}

// Accepted does nothing.
func (NopObserver) Accepted(task.Type, time.Duration) {}

// Started does nothing.
func (NopObserver) Started(task.Type, int) {}

// Ended does nothing.
func (NopObserver) Ended(task.Type, Ending) {}

// Finished does nothing.
func (NopObserver) Finished(task.Type, Ending) {}

// StageTook does nothing.
func (NopObserver) StageTook(task.Type, string, time.Duration) {}

// Renewed does nothing.
func (NopObserver) Renewed(string, string) {}
