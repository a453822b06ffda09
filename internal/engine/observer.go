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
	// Started tells of an attempt, and how long ago its message was put on the queue.
	Started(t task.Type, attempt int, waited time.Duration)
	// Ended tells of the end of an attempt. outcome is a job state, "retry", "released" or "lost".
	Ended(t task.Type, outcome string, class job.Class, took time.Duration)
	// StageTook tells how long a stage lasted.
	StageTook(t task.Type, stage string, took time.Duration)
	// Renewed tells of a renewal; result is "ok", "lost", "uncertain" or "failed".
	Renewed(lease, result string)
}

// Unobserved is an Observer that looks away.
type Unobserved struct{}

// Polled does nothing.
func (Unobserved) Polled(string, int, int, error) {}

// Started does nothing.
func (Unobserved) Started(task.Type, int, time.Duration) {}

// Ended does nothing.
func (Unobserved) Ended(task.Type, string, job.Class, time.Duration) {}

// StageTook does nothing.
func (Unobserved) StageTook(task.Type, string, time.Duration) {}

// Renewed does nothing.
func (Unobserved) Renewed(string, string) {}
