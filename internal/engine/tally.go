package engine

import (
	"sync/atomic"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// tally is an Observer that counts what an engine has done since its start, for Health, and passes everything on.
type tally struct {
	Observer
	done, failed atomic.Int64
	draining     atomic.Int64 // tasks that ran when the drain began
}

// Ended counts the end of a job by an attempt.
func (t *tally) Ended(of task.Type, e Ending) {
	t.count(job.State(e.Outcome))
	t.Observer.Ended(of, e)
}

// Finished counts the end of a job without one.
func (t *tally) Finished(of task.Type, e Ending) {
	t.count(job.State(e.Outcome))
	t.Observer.Finished(of, e)
}

func (t *tally) count(outcome job.State) {
	switch outcome {
	case job.Succeeded:
		t.done.Add(1)
	case job.Failed:
		t.failed.Add(1)
	}
}
