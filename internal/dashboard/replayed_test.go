package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// letters fails some jobs.
func (b *bench) letters(names ...string) {
	b.Helper()
	for _, name := range names {
		b.fail(b.begin(name, "ingest", `{"filename":"`+name+`.pdf","document_set":"s"}`), taskerr.NetworkTimeout, "no answer")
	}
}

// A replay of many with a rate starts the first at once and the others one after another, and its address shows what
// becomes of them, and of no other job.
func TestReplayRate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters("one", "two", "three")
	v := b.visit("operate")
	v.want(v.get("dead-letters/replay?rate=2"), http.StatusOK, "the last in 1 min", "Nothing has been done yet")
	begin := time.Now()
	a := v.want(v.post("dead-letters/replay", "limit", "50", "rate", "2"), http.StatusOK, "Replayed 3 of 3", "0 of 3 have ended",
		"3 waiting", "the next starts", "two.pdf")
	if !strings.HasSuffix(a.path, "/dead-letters/replayed") {
		t.Errorf("the result is at %s: a reload would replay again", a.path)
	}
	for i, name := range []string{"one", "two", "three"} { // the oldest first
		j, err := b.store.Job(t.Context(), name+".r1")
		if err != nil {
			t.Fatal(err)
		}
		if want := begin.Add(time.Duration(i) * 30 * time.Second); i == 0 && j.RunAt != nil ||
			i > 0 && (j.RunAt == nil || j.RunAt.Sub(want).Abs() > 20*time.Second) {
			t.Errorf("%s starts at %v, want it at %s", j.ID, j.RunAt, want)
		}
	}
	b.submit("other", "other.pdf")
	b.letters("four")
	if a := v.post("dead-letters/replay"); strings.Contains(a.text, "one.r1") || strings.Contains(a.text, "other.pdf") ||
		!strings.Contains(a.text, "Replayed 1 of 1") {
		t.Errorf("the second replay shows jobs that are not its own: %s", plainOf(a.text))
	}
	v.want(v.post("dead-letters/replay"), http.StatusOK, "None could be replayed")
	v.want(v.get("dead-letters/replayed?since=x"), http.StatusBadRequest)
	v.want(b.visit("submit").post("dead-letters/replay"), http.StatusForbidden)
}

// The dry run shows the letters that would be replayed, which are the oldest.
func TestReplayPreviewShowsTheOldest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters("first", "second", "third")
	v := b.visit("operate")
	a := v.want(v.get("dead-letters/replay?limit=2"), http.StatusOK, `class="mono">first<`, `class="mono">second<`)
	if strings.Contains(a.text, `class="mono">third<`) {
		t.Errorf("it shows one that is not replayed: %s", plainOf(a.text))
	}
}

// Retry does a failed job again whose attempts are used up, and none whose task another job does.
func TestRetryDoesNothingTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters("replayed", "open")
	v := b.visit("operate")
	letters, err := b.store.DeadLetters(t.Context(), store.DeadLetterFilter{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range letters {
		if l.JobID == "replayed" {
			v.post("dead-letters/" + l.ID + "/replay")
		}
	}
	v.want(v.post("change-jobs", "action", "retry", "id", "replayed", "id", "open"), http.StatusOK, "replayed as another job")
	for id, want := range map[string]string{"replayed": "failed", "open": "pending", "replayed.r1": "pending"} {
		if j, err := b.store.Job(t.Context(), id); err != nil || j.Status != want {
			t.Errorf("%s is %s, %v; want %s", id, j.Status, err, want)
		} else if id == "open" && j.Attempts != 0 {
			t.Errorf("%s counts on from attempt %d", id, j.Attempts)
		}
	}
}

// Who replays many sees each of them go on, without a reload.
func TestReplayLive(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters("one", "two")
	w := b.browse("operate")
	w.open("dead-letters/replay")
	w.click("main form[method=post] button")
	w.shows("Replayed 2 of 2")
	w.shows("Live")
	h := b.begin("one.r1", "ingest", `{"filename":"one.pdf","document_set":"s"}`)
	b.report(h, store.Event{Stage: "parsing", Progress: 40})
	w.shows("parsing, 40 %")
	b.complete(h, `{}`)
	w.shows("1 of 2 have ended")
	b.fail(b.begin("two.r1", "ingest", `{"filename":"two.pdf","document_set":"s"}`), taskerr.NetworkTimeout, "still no answer")
	w.shows("still no answer")
	w.shows("2 of 2 have ended")
	w.quiet()
}

// The heading of a replay counts only what it did itself, also where another one was made at the same time.
func TestReplaysAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters("one", "two")
	b.fail(b.begin("asked", "agent", `{"prompt":"Why?"}`), taskerr.NetworkTimeout, "no answer")
	v := b.visit("operate")
	begin := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339Nano)
	v.want(v.post("dead-letters/replay", "type", "agent"), http.StatusOK, "Replayed 1 of 1")
	v.want(v.post("dead-letters/replay", "type", "ingest", "limit", "1"), http.StatusOK, "one.pdf")
	end := time.Now().Add(time.Minute).UTC().Format(time.RFC3339Nano)
	for _, kind := range []string{"ingest", ""} {
		a := v.want(v.get("dead-letters/replayed?type="+kind+"&matched=2&replayed=1&since="+begin+"&before="+end), http.StatusOK,
			"Replayed 1 of 2", "What was not replayed", "one.pdf")
		if kind != "" && strings.Contains(a.text, "asked.r1") {
			t.Errorf("it shows a job of another type: %s", plainOf(a.text))
		}
	}
}
