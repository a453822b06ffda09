package ingest_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// watchedPages records the last page read.
type watchedPages struct {
	ingest.Extractor
	page *atomic.Int64
}

func (w watchedPages) Extract(
	ctx context.Context, src extract.Source, l extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	return w.Extractor.Extract(ctx, src, l, func(b extract.Block) error {
		w.page.Store(int64(b.Page))
		return emit(b)
	})
}

// watchedChunks records the last page read when the first chunks were staged.
type watchedChunks struct {
	store.Documents
	page  *atomic.Int64
	first atomic.Int64
}

func (w *watchedChunks) StageChunks(ctx context.Context, b store.ChunkBatch) ([]string, error) {
	missing, err := w.Documents.StageChunks(ctx, b)
	w.first.CompareAndSwap(0, w.page.Load())
	return missing, err
}

// TestChunksAreStagedWhileItReads: a long document is never in memory as a whole. It has more pages than the writers
// and their queue can hold, so that reading has to wait for the first chunks.
func TestChunksAreStagedWhileItReads(t *testing.T) {
	t.Parallel()
	const pages = 300
	var page atomic.Int64
	chunks := &watchedChunks{page: &page}
	b := newBench(t, func(d *ingest.Deps) {
		d.Extractor = watchedPages{d.Extractor, &page}
		chunks.Documents, d.Documents = d.Documents, chunks
		d.Limits.Bytes = 64 << 20
	})
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := nativetest.LongPDF(file, pages, false); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	b.Put("long.pdf", string(content))
	r := b.ingest(`{"filename":"long.pdf","document_set":"docs"}`, task.Hints{})
	if r.Pages != pages || r.Chunks < pages {
		t.Fatalf("result %+v", r)
	}
	if first := chunks.first.Load(); first < 1 || first > pages*9/10 {
		t.Errorf("the first chunks were staged when page %d of %d was read", first, pages)
	}
	t.Logf("the first of %d chunks were staged when page %d of %d was read", r.Chunks, chunks.first.Load(), pages)
}
