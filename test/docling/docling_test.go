package docling_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const page = "# A page\n\nSome text on it.\n"

// Down for a minute: the circuit breaker opens, waiting costs no attempt, documents that Docling does not read do
// not close it, and when the server is back everything is done with one conversion each.
func TestDownForAMinute(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Stop()
		run := w.start()
		defer run.end()
		for _, id := range []string{"a", "b", "c", "d"} {
			w.send(id, id+".md", page+id)
		}
		w.send("plain", "plain.txt", "just text")
		pass(30 * time.Second)
		down := run.Health().Dependencies
		i := slices.IndexFunc(down, func(d engine.DependencyHealth) bool { return d.Name == taskerr.Docling })
		if i < 0 || !down[i].Down() || down[i].Trouble == nil ||
			!strings.Contains(down[i].Trouble.Hint, "DOCLING_URL") {
			t.Errorf("after half a minute the worker reports %+v", down)
		}
		pass(30 * time.Second)
		w.docling.Start()
		pass(time.Minute)
		for _, id := range []string{"a", "b", "c", "d", "plain"} {
			if row, ok := w.jobs.Row(id); !ok || row.State != job.Succeeded || row.Attempts > 2 {
				t.Errorf("%s is %s after %d attempts (%s)", id, row.State, row.Attempts, row.Error.Message)
			}
		}
		w.paid(4)
	})
}

// A server that goes down while it converts, and keeps its tasks, is not paid twice.
func TestDownInTheMiddle(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{Takes: 20 * time.Second})
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(10 * time.Second)
		w.docling.Stop()
		pass(time.Minute)
		w.docling.Start()
		pass(time.Minute)
		if row, _ := w.jobs.Row("a"); row.State != job.Succeeded {
			t.Errorf("the job is %s after %d attempts (%s)", row.State, row.Attempts, row.Error.Message)
		}
		w.paid(1)
	})
}

// A conversion that takes far longer than a lease takes one attempt.
func TestSlow(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{Takes: 10 * time.Minute})
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(11 * time.Minute)
		if r := w.expect("a", job.Succeeded, 1); r.Extractor != "docling" || r.Pages != 1 || r.Chunks == 0 {
			t.Errorf("the result is %+v", r)
		}
		w.paid(1)
	})
}

// A conversion slower than the task's timeout is a timeout, and Docling gets the limit.
func TestTooSlow(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{Takes: time.Hour})
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(31 * time.Minute)
		w.expect("a", job.Failed, 1)
		if got := w.docling.Uploads()[0].Fields["document_timeout"]; len(got) != 1 || got[0] != "1439" &&
			got[0] != "1440" {
			t.Errorf("document_timeout %v of 1800 s", got)
		}
		w.paid(1)
	})
}

// A task that the server forgot is submitted again.
func TestForgets(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{Takes: time.Minute})
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(30 * time.Second)
		w.docling.ForgetAll()
		pass(time.Minute)
		w.expect("a", job.Succeeded, 1)
		w.paid(2)
	})
}

// The converted part can be found, and the missing part is reported.
func TestPartialSuccess(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{
			Status: wire.PartialSuccess, Errors: []wire.ErrorItem{{Message: "the model failed", Page: 2}},
		})
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(time.Minute)
		const want = "docling could convert only a part of the document; all or some is missing of page 2 (the " +
			"model failed)"
		const again = "it was not read in full for a reason that may pass: its next ingest reads it again"
		if r := w.expect("a", job.Succeeded, 1); !slices.Equal(r.Warnings, []string{want, again}) || r.Chunks == 0 {
			t.Errorf("the result is %+v", r)
		}
		w.paid(1)
	})
}

// A worker that is stopped while Docling converts leaves the task's id; the next one continues with it.
func TestStoppedInTheMiddle(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{Takes: 2 * time.Minute})
		run := w.start()
		w.send("a", "a.md", page)
		pass(30 * time.Second)
		run.Abort()
		run.end()
		next := w.start()
		defer next.end()
		pass(5 * time.Minute)
		w.expect("a", job.Succeeded, 1)
		w.paid(1)
	})
}

// A failure after the conversion never pays for another conversion, however long it lasts.
func TestFailsAfterwards(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docs.fail(true)
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(20 * time.Minute)
		w.docs.fail(false)
		pass(time.Minute)
		if row, _ := w.jobs.Row("a"); row.State != job.Succeeded {
			t.Errorf("the job is %s after %d attempts (%s)", row.State, row.Attempts, row.Error.Message)
		}
		w.paid(1)
	})
}

// A transient failure is an attempt; each attempt is a conversion of its own, since the one before had no result.
func TestRetryableFailure(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.docling.Plan(doclingtest.Conversion{
			Failure: &wire.Failure{
				Category: "timeout", Message: "Task exceeded the allowed execution time.", Retryable: true,
			},
		})
		run := w.start()
		defer run.end()
		w.send("a", "a.md", page)
		pass(2 * time.Minute)
		w.expect("a", job.Succeeded, 2)
		w.paid(2)
	})
}

// With EXTRACTOR=auto documents are read natively while the server is down, with a warning, and by Docling again
// when it is back.
func TestAuto(t *testing.T) {
	inWorld(t, doclingtest.Options{}, func(w *world) {
		w.auto = true
		w.docling.Stop()
		run := w.start()
		defer run.end()
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			w.send(id, id+".md", page+id)
			pass(time.Second)
			r := w.expect(id, job.Succeeded, 1)
			if r.Extractor != "native/text" || len(r.Warnings) != 1 ||
				!strings.Contains(r.Warnings[0], "read by native/text instead") {
				t.Errorf("%s: the result is %+v", id, r)
			}
		}
		w.docling.Start()
		w.send("f", "f.md", page+"f")
		pass(time.Second)
		if r := w.expect("f", job.Succeeded, 1); r.Extractor != "native/text" ||
			!strings.Contains(r.Warnings[0], "is down") {
			t.Errorf("while the circuit breaker is open the result is %+v", r)
		}
		pass(time.Minute)
		w.send("g", "g.md", page+"g")
		pass(time.Minute)
		if r := w.expect("g", job.Succeeded, 1); r.Extractor != "docling" || r.Warnings != nil {
			t.Errorf("when it is back the result is %+v", r)
		}
		w.paid(1)
	})
}
