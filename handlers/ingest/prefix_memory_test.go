package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// many is a bucket with so many blobs.
type many struct {
	blob.Bucket
	n int
}

func (m many) List(context.Context, string) iter.Seq2[blob.Properties, error] {
	return func(yield func(blob.Properties, error) bool) {
		for i := range m.n {
			if !yield(blob.Properties{Name: fmt.Sprintf("in/%08d.pdf", i), ETag: `"1"`}, nil) {
				return
			}
		}
	}
}

// sources is a store that has a document of each blob.
type sources struct {
	store.Children
	heap uint64
}

func (s *sources) CompareBlobs(_ context.Context, q store.BlobComparison) ([]store.ComparedBlob, error) {
	all := make([]store.ComparedBlob, len(q.Blobs))
	for i, b := range q.Blobs {
		all[i] = store.ComparedBlob{Filename: b.Name, ETag: b.ETag}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s.heap = max(s.heap, m.HeapAlloc)
	return all, nil
}

func (s *sources) DocumentsUnder(context.Context, store.UnderQuery) (store.UnderPage, error) {
	return store.UnderPage{}, nil
}

// A prefix of 100,000 blobs takes the memory of a batch, and a number for each.
func TestPrefixMemory(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	const n, most = 100_000, 8 << 20
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := &sources{}
	h := ingest.New(ingest.Deps{Bucket: many{n: n}, Sources: s, Children: &line{left: -1}})
	out, err := h.Handle(t.Context(), handlers.Call{
		Task: task.Task{ID: "a", Payload: json.RawMessage(`{"document_set":"docs","prefix":"in/","delete_missing":true}`)}, Progress: &handlertest.Progress{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := counts(out.Result.(ingest.Spread)); got != fmt.Sprintf("listed %d submitted 0 unchanged %[1]d deletions 0 skipped 0", n) {
		t.Error(got)
	}
	if grown := int64(s.heap) - int64(before.HeapAlloc); grown > most {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
