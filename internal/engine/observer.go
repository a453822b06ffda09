package engine

import (
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Observer is told what happens, for metrics and benchmarks. Its methods must not block.
type Observer interface {
	// Polled tells of one receive: how many slots were free, how many messages came, and how it ended.
	Polled(queue string, free, got int, err error)
	// Came tells of a task that was accepted: its job is begun for the first time, or again on demand.
	Came(t task.Type)
	// Started tells of an attempt, and how long ago its message was put on the queue.
	Started(t task.Type, attempt int, waited time.Duration)
	// Ended tells of the end of an attempt that was started.
	Ended(t task.Type, e Ending)
	// Over tells that a job ended without an attempt that this worker started: its message was refused, the last
	// worker that it may cost was lost, or it was canceled before it ran.
	Over(t task.Type, e Ending)
	// StageTook tells how long a stage lasted.
	StageTook(t task.Type, stage string, took time.Duration)
	// Renewed tells of a renewal; result is "ok", "lost", "uncertain" or "failed".
	Renewed(lease, result string)
}

// Ending is how an attempt ended.
type Ending struct {
	Outcome string        // a job state, Retried, Released or Lost
	Class   job.Class     // of the error; empty: there was none
	Attempt int           // 1 is the first; of a job that ended without one, how many it had
	Took    time.Duration // the attempt
	JobTook time.Duration // from the start of the job's first attempt to its end; zero: it goes on, or was never started
	// Warnings is how many the result of a job that succeeded has.
	Warnings int
}

// The outcomes of attempts that end no job.
const (
	Retried  = "retry"    // to be tried again
	Released = "released" // given back without a counted attempt
	Lost     = "lost"     // the commit was refused, or never answered
)

// Unobserved is an Observer that looks away.
type Unobserved struct{}

// Polled does nothing.
func (Unobserved) Polled(string, int, int, error) {}

// Came does nothing.
func (Unobserved) Came(task.Type) {}

// Started does nothing.
func (Unobserved) Started(task.Type, int, time.Duration) {}

// Ended does nothing.
func (Unobserved) Ended(task.Type, Ending) {}

// Over does nothing.
func (Unobserved) Over(task.Type, Ending) {}

// StageTook does nothing.
func (Unobserved) StageTook(task.Type, string, time.Duration) {}

// Renewed does nothing.
func (Unobserved) Renewed(string, string) {}
