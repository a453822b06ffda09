package main

import (
	"context"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// noop is a task type that does nothing: the benchmark measures everything around a handler.
type noop struct{}

func (noop) Spec() handlers.Spec {
	return handlers.Spec{Type: "noop", Stages: []job.Stage{{Name: "nothing", Start: 0}}, Policy: job.DefaultPolicy}
}

func (noop) Check(task.Task) error { return nil }

func (noop) Handle(_ context.Context, c handlers.Call) (handlers.Outcome, error) {
	return handlers.Outcome{Result: map[string]any{}}, c.Progress.Stage("nothing")
}
