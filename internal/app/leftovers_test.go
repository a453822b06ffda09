package app

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestLeftoversAreDue: the end of an ingest asks for one round, others ask for none, and nobody waits.
func TestLeftoversAreDue(t *testing.T) {
	t.Parallel()
	due := make(chan struct{}, 1)
	l := leftovers{engine.NopObserver{}, due}
	l.Ended(task.Summarize, engine.Ending{})
	if len(due) != 0 {
		t.Error("a summary asked for a round")
	}
	for range 3 {
		l.Ended(task.Ingest, engine.Ending{})
	}
	if len(due) != 1 {
		t.Error("an ingest asked for no round")
	}
}
