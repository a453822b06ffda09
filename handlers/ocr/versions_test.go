package ocr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
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

// What a reader should know of a document is said of it again when it is reused; what a task's own hints caused is not.
func TestReusedWarnings(t *testing.T) {
	t.Parallel()
	b := newBench(t, &fake{})
	b.putPDF("blank.pdf", ocrtest.Page{Image: ocrtest.Blank().Gray})
	const none = "no text was found on 1 pages"
	for i, asked := range []int{10, 20, 256} {
		r := b.do(`{"filename":"blank.pdf"}`, task.Hints{Resolution: asked})
		want := []string{fmt.Sprintf("hints.resolution of %d pixels was brought to 256, as fake reads images of that size", asked), none}
		if asked == 256 {
			want = want[1:]
		}
		if r.Reused != (i > 0) || !slices.Equal(r.Warnings, want) {
			t.Errorf("resolution %d: reused %t, %q", asked, r.Reused, r.Warnings)
		}
	}
}

// A document of which another engine read pages is read again by the next task.
func TestReadInPlaceIsNotReused(t *testing.T) {
	t.Parallel()
	e := &fake{by: "other"}
	b := newBench(t, e)
	b.putPDF("a.pdf", scanned(t, "A page"))
	for calls := 1; calls <= 2; calls++ {
		if r := b.do(`{"filename":"a.pdf"}`, task.Hints{}); r.Reused || len(r.Warnings) != 1 || e.calls != calls {
			t.Errorf("%+v after %d calls", r, e.calls)
		}
	}
	e.by = ""
	for i := range 2 {
		if r := b.do(`{"filename":"a.pdf"}`, task.Hints{}); r.Reused != (i == 1) || len(r.Warnings) > 0 || e.calls != 3 {
			t.Errorf("%+v after %d calls", r, e.calls)
		}
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
