package ocr_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// The same bytes are not read again, unless the task is forced or has other options. A recorded blob is never
// overwritten, even if the same task is forced.
func TestVersions(t *testing.T) {
	t.Parallel()
	e := &fake{}
	b := newBench(t, e)
	b.putPDF("a.pdf", scanned(t, "A page"))
	const payload = `{"filename":"a.pdf"}`
	first := b.do(payload, task.Hints{})
	again := b.do(payload, task.Hints{})
	if !again.Reused || again.DerivedContentID != first.DerivedContentID || again.DerivedBlob != first.DerivedBlob ||
		again.Version != 1 || again.PageCount != 1 || e.calls != 1 {
		t.Errorf("again: %+v after %d calls", again, e.calls)
	}
	forced := b.do(payload, task.Hints{Force: true})
	same := b.doAs("job-1", payload, task.Hints{Force: true})
	if forced.Reused || forced.Version != 2 || same.Version != 3 || e.calls != 3 {
		t.Errorf("forced: %+v, %+v after %d calls", forced, same, e.calls)
	}
	if names := []string{first.DerivedBlob, forced.DerivedBlob, same.DerivedBlob}; len(
		slices.Compact(slices.Sorted(slices.Values(names)))) != 3 {
		t.Errorf("blobs %q", names)
	}
	for _, other := range []task.Hints{{OutputFormat: "json"}, {Resolution: 100}} {
		if r := b.do(payload, other); r.Reused {
			t.Errorf("%+v: %+v", other, r)
		}
	}
	if err := os.Remove(filepath.Join(b.Blobs, same.DerivedBlob)); err != nil {
		t.Fatal(err)
	}
	if r := b.do(payload, task.Hints{}); r.Reused {
		t.Error("a missing blob was reused")
	}
	b.putPDF("a.pdf", scanned(t, "Another page"))
	if r := b.do(payload, task.Hints{}); r.Reused || r.Version != 7 {
		t.Errorf("other bytes: %+v", r)
	}
}

// An attempt that dies between upload and commit leaves no row, and the next one overwrites its blob.
func TestAttemptThatIsNeverCommitted(t *testing.T) {
	t.Parallel()
	b := newBench(t, &fake{})
	b.putPDF("a.pdf", scanned(t, "A page"))
	c := b.Begin(`{"filename":"a.pdf"}`, task.Hints{})
	lost, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	found, err := b.Store.Derived(t.Context(), store.DerivedQuery{JobID: c.Task.ID, SourceFilename: "a.pdf"})
	if err != nil || found.OfJob != 0 {
		t.Errorf("%+v %v", found, err)
	}
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r := b.complete(c, out)
	if r.DerivedBlob != lost.Result.(handler.Result).DerivedBlob || r.Version != 1 {
		t.Errorf("%+v", r)
	}
}
