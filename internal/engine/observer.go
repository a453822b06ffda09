package engine

import (
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Observer is told what happens, for metrics and benchmarks. Its methods must not block.
type Observer interface {
	// Polled tells of one receive: how many slots were free, how many messages came, and how it ended.
	Polled(queue string, free, got int, err error)
	// Accepted tells of a task whose job is begun for the first time, or again on demand.
	Accepted(t task.Type)
	// Started tells of an attempt, and how long ago its message was put on the queue.
	Started(t task.Type, attempt int, waited time.Duration)
	// Ended tells of the end of an attempt that was started.
	Ended(t task.Type, e Ending)
	// Finished tells that a job ended without an attempt that this worker started: its message was refused, the last
	// worker that it may cost was lost, or it was canceled before it ran.
	Finished(t task.Type, e Ending)
	// StageTook tells how long a stage lasted.
	StageTook(t task.Type, stage string, took time.Duration)
	// Renewed tells of a renewal; result is "ok", "lost", "uncertain" or "failed".
	Renewed(lease, result string)
}

// Ending is how an attempt ended.
type Ending struct {
	Outcome string        // a job state, Retried, Released or Lost
	Class   taskerr.Class // of the error; empty: there was none
	Attempt int           // 1 is the first; of a job that ended without one, how many it had
	Took    time.Duration // the attempt
	// from the start of the job's first attempt to its end; zero: it goes on, or was never started
	JobTook time.Duration
	// Warnings is how many the result of a job that succeeded has.
	Warnings int
}

// The outcomes of attempts that end no job.
const (
	Retried  = "retry"    // to be tried again
	Released = "released" // given back without a counted attempt
	Lost     = "lost"     // the commit was refused, or never answered
)

// NopObserver is an Observer that does nothing.
type NopObserver struct{}

// Polled does nothing.
func (NopObserver) Polled(string, int, int, error) {}

// Accepted does nothing.
func (NopObserver) Accepted(task.Type) {}

// Started does nothing.
func (NopObserver) Started(task.Type, int, time.Duration) {}

// Ended does nothing.
func (NopObserver) Ended(task.Type, Ending) {}

// Finished does nothing.
func (NopObserver) Finished(task.Type, Ending) {}

// StageTook does nothing.
func (NopObserver) StageTook(task.Type, string, time.Duration) {}

// Renewed does nothing.
func (NopObserver) Renewed(string, string) {}
