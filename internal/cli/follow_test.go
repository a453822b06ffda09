package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func watched(ids ...string) *rows {
	r := &rows{events: map[string][]store.JobEvent{}}
	for _, id := range ids {
		r.jobs = append(r.jobs, store.Job{ID: id, Type: "ingest", Status: "pending"})
	}
	return r
}

// A job is named after its document. The login and the query of an address may be secrets, and are left out.
func TestLabel(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"source_uri":"https://me:SECRET@files.example/a.pdf?token=SECRET#SECRET"}`: "https://files.example/a.pdf",
		`{"source_uri":"https://me:SEC/RET@files.example/a.pdf"}`:                    "job-1",
		`{"source_uri":"blob:in/a?b.pdf"}`:                                           "blob:in/a?b.pdf",
		`{"filename":"a.pdf","source_uri":"https://files.example/b.pdf"}`:            "a.pdf",
		`{"prefix":"in/"}`: "in/",
		`{}`:               "job-1",
	} {
		if got := label(store.Job{ID: "job-1", Payload: json.RawMessage(payload)}); got != want {
			t.Errorf("%s: got %q, want %q", payload, got, want)
		}
	}
}

// start follows ids in a goroutine of the bubble; the returned function waits for its end.
func start(ctx context.Context, r *rows, out *bytes.Buffer, ids ...string) func() error {
	ended := make(chan error, 1)
	go func() { ended <- followerOf(r).all(ctx, ids, &plainLines{w: out}) }()
	return func() error { return <-ended }
}

func TestPlainLinesFollowAJobToItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, out := watched("a", "b"), &bytes.Buffer{}
		end := start(t.Context(), r, out, "a", "b")
		for i, stage := range []string{"fetching_source", "parsing", "embedding"} {
			time.Sleep(time.Duration(i*3) * time.Second)
			r.happen("a", job.Running, store.JobEvent{Stage: stage, Progress: 10 * (i + 1), Attempt: 1})
		}
		time.Sleep(time.Minute)
		r.happen("b", job.Failed, store.JobEvent{Stage: "parsing", Message: "damaged"})
		r.happen("a", job.Succeeded, store.JobEvent{Stage: "finalizing", Progress: 100},
			store.JobEvent{Stage: "finalizing", Progress: 100, Message: "done"})
		if err := end(); !errors.Is(err, errUnsuccessful) {
			t.Errorf("got %v, want %v", err, errUnsuccessful)
		}
		var a, b []string
		for line := range strings.Lines(out.String()) {
			line = regexp.MustCompile(`^\d\d:\d\d:\d\d  `).ReplaceAllString(strings.TrimRight(line, " \n"), "")
			if strings.HasPrefix(line, "a ") {
				a = append(a, line)
			} else {
				b = append(b, line)
			}
		}
		want := []string{
			"a   10%  fetching_source", "a   20%  parsing", "a   30%  embedding", "a  100%  finalizing",
			"a  100%  finalizing          done", "a  succeeded",
		}
		if strings.Join(a, "\n") != strings.Join(want, "\n") {
			t.Errorf("lines of a: %q, want %q", a, want)
		}
		if len(b) != 2 || !strings.HasPrefix(b[1], "b  failed") {
			t.Errorf("lines of b: %q", b)
		}
	})
}

// A database that is down for a while does not end a watch; one that stays down does.
func TestWatchBearsTroubleForAWhile(t *testing.T) {
	t.Parallel()
	trouble := taskerr.Errorf(taskerr.TransientStorage, "connection refused")
	for _, c := range []struct {
		name     string
		failures int
		err      error
		want     error
	}{
		{"passes", 5, trouble, nil},
		{"stays", 0, trouble, trouble},
		{"never passes", 0, store.ErrForbidden, store.ErrForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, out := watched("a"), &bytes.Buffer{}
				r.fail, r.failures = c.err, c.failures
				end := start(t.Context(), r, out, "a")
				time.Sleep(time.Hour)
				r.happen("a", job.Succeeded)
				if err := end(); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}

// A database that has never answered ends a watch once the command's patience is over; one that has is waited for.
func TestWatchEndsWithPatience(t *testing.T) {
	t.Parallel()
	trouble := taskerr.Errorf(taskerr.TransientStorage, "connection refused")
	for name, answers := range map[string]bool{"never answered": false, "has answered": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r, began := watched("a"), time.Now()
				if !answers {
					r.refuse(trouble, 0)
				}
				end := start(store.WithPatience(t.Context(), 5*time.Second), r, &bytes.Buffer{}, "a")
				if answers {
					time.Sleep(time.Second)
					r.refuse(trouble, 0)
				}
				err := end()
				if ended := time.Since(began) < 8*time.Second; !errors.Is(err, trouble) || ended == answers {
					t.Errorf("ended after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

func TestWatchStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		end := start(ctx, watched("a"), &bytes.Buffer{}, "a")
		time.Sleep(time.Minute)
		cancel()
		if v := verdictOf(end()); v.code != exitInterrupted || !strings.Contains(v.next, "the jobs go on") ||
			!strings.Contains(v.next, "jobs watch a\n") {
			t.Errorf("got %+v", v)
		}
	})
}

func TestShellQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"report-7.2": "report-7.2", "a b": "'a b'", "it's": `'it'\''s'`,
		"$(rm)": "'$(rm)'", "x\x1b[1m": "'x[1m'", "": "''",
	} {
		if got := shellQuoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

// An idle job is looked at rarely: the backoff reaches its longest wait.
func TestWatchBacksOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counted := &counting{rows: watched("a")}
		f := followerOf(counted)
		ended := make(chan error, 1)
		go func() { ended <- f.all(t.Context(), []string{"a"}, &plainLines{w: &bytes.Buffer{}}) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		counted.mu.Lock()
		looks := counted.looks
		counted.mu.Unlock()
		if most := int(time.Hour/f.max) + 5; looks > most {
			t.Errorf("%d looks in an hour, want at most %d", looks, most)
		}
		counted.happen("a", job.Canceled)
		if err := <-ended; verdictOf(err).code != exitFailed {
			t.Errorf("got %v", err)
		}
	})
}

type counting struct {
	*rows
	looks int
}

func (c *counting) Job(ctx context.Context, id string) (store.Job, error) {
	c.mu.Lock()
	c.looks++
	c.mu.Unlock()
	return c.rows.Job(ctx, id)
}

// Bars end, whatever becomes of the jobs.
func TestBars(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := someRows()
	r.events["bad"] = []store.JobEvent{{Seq: 1, Stage: "parsing", Progress: 12, Message: "x"}}
	const unread = "1 of 1 pages have no text and could not be read by OCR (tesseract is not installed): page 1"
	r.jobs = append(r.jobs, store.Job{ID: "scan", Status: "succeeded", Result: json.RawMessage(`{"warnings":["` + unread + `"]}`)})
	b := newBars(&out, true, 80)
	err := followerOf(r).all(t.Context(), []string{"good", "bad", "scan"}, b)
	if !errors.Is(err, errUnsuccessful) {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		"a.pdf", "100", "succeeded after 3.21s", "bad", "failed: INGEST_CORRUPTION_DETECTED",
		"\x1b[32m", "\nbad failed: INGEST_CORRUPTION_DETECTED: broken [31mfile really\n",
		"\nscan succeeded, but: 1 of 1 pages have no text",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
	abandoned := newBars(&out, false, 120)
	abandoned.event(store.Job{ID: "x"}, store.JobEvent{Progress: 50})
	abandoned.close() // returns
}
