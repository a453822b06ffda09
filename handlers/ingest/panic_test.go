package ingest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// explosive is an embedder that panics.
type explosive struct{ llm.Embedder }

func (explosive) Embed(context.Context, []string) (llm.Embeddings, error) {
	panic("a bug in an embedder")
}

// A panic in a goroutine of the handler fails its task only, and doesn't end the process.
func TestPanicBesideTheHandler(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *ingest.Deps) { d.Embedder = explosive{d.Embedder} })
	b.Put("handbook.md", text(300))
	_, err := b.handler.Handle(t.Context(), b.Begin(handbook, task.Hints{}))
	if failure, ok := errors.AsType[*taskerr.Error](err); !ok || failure.Class != taskerr.InternalBug {
		t.Errorf("got %v, want an internal_bug", err)
	}
	b.CheckTemp()
}
