package memory_test

import (
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(*testing.T) queue.Service { return memory.New(memory.Options{}) },
		queuetest.Options{Virtual: true})
}

func TestFullQueue(t *testing.T) {
	t.Parallel()
	q := memory.New(memory.Options{MaxMessages: 1}).Queue("q")
	if err := q.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Send(t.Context(), "fits", queue.SendOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := q.Send(t.Context(), "too much", queue.SendOptions{})
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.TransientStorage {
		t.Errorf("got %v, want a transient error", err)
	}
}
