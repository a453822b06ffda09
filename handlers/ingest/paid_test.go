package ingest_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// paying has the contexts under which vectors are asked for and stored.
type paying struct {
	llm.Embedder
	store.Documents
	asked, stored atomic.Pointer[context.Context]
}

func (p *paying) Embed(ctx context.Context, texts []string) (llm.Embeddings, error) {
	p.asked.Store(&ctx)
	return p.Embedder.Embed(ctx, texts)
}

func (p *paying) StageChunks(ctx context.Context, b store.ChunkBatch) ([]string, error) {
	p.stored.Store(&ctx)
	return p.Documents.StageChunks(ctx, b)
}

// Vectors are paid for: they are asked for and stored under the context of the task, not under that of the writers, which ends
// when one of them fails.
func TestPaidVectorsAreStored(t *testing.T) {
	t.Parallel()
	p := &paying{}
	b := newBench(t, func(d *ingest.Deps) {
		p.Embedder, p.Documents = d.Embedder, d.Documents
		d.Embedder, d.Documents = p, p
	})
	b.Put("handbook.md", text(3))
	b.ingest(handbook, task.Hints{})
	for name, ctx := range map[string]*context.Context{"asked for": p.asked.Load(), "stored": p.stored.Load()} {
		if ctx == nil || (*ctx).Err() != nil { // the writers' own has ended with them
			t.Errorf("vectors are %s under the context of the writers, or not at all", name)
		}
	}
}
