package storetest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// line are jobs on one document, whose messages came on their queue a second after each other.
type line struct {
	b        *bench
	filename string
	start    time.Time
}

func (b *bench) line() *line {
	return &line{b, uuid.NewString() + ".pdf", time.Now().Add(-time.Minute)}
}

// join begins the job whose message was the n-th one; more are other members of its payload.
func (l *line) join(n int, more string) (store.Begin, store.Holder) {
	return l.b.run(func(m *store.Begin) {
		m.Payload = json.RawMessage(`{"document_set":"set","filename":"` + l.filename + `"` + more + `}`)
		m.Source.InsertedAt = l.start.Add(time.Duration(n) * time.Second)
	})
}

// stage tries to get the document. It returns the job that the holder has to wait for, and how long.
func (l *line) stage(h store.Holder) (ahead string, wait time.Duration) {
	l.b.t.Helper()
	_, err := l.b.StageDocument(l.b.ctx(), staging(h, l.filename))
	if busy, ok := errors.AsType[*store.BusyError](err); ok {
		return busy.JobID, busy.RetryAfter
	}
	if err != nil {
		l.b.t.Fatal(err)
	}
	return "", 0
}

func (l *line) want(what string, h store.Holder, ahead string) {
	l.b.t.Helper()
	if got, wait := l.stage(h); got != ahead || wait < 0 || wait > 11*time.Second {
		l.b.t.Errorf("%s: %s waits for %q for %v, want for %q", what, h.JobID, got, wait, ahead)
	}
}

func (l *line) release(h store.Holder, waits bool) {
	l.b.t.Helper()
	if _, err := l.b.Release(l.b.ctx(), store.Release{Holder: h, Waits: waits}); err != nil {
		l.b.t.Fatal(err)
	}
}

// again begins a released job's next attempt.
func (l *line) again(m store.Begin) store.Holder {
	l.b.t.Helper()
	return holder(m, l.b.begin(m, store.Run))
}

// testOrder: jobs on one document get it in the order of their messages, whoever begins or comes back first.
func testOrder(t *testing.T, b *bench) {
	l := b.line()
	third, h3 := l.join(3, "")
	second, h2 := l.join(2, "")
	first, h1 := l.join(1, "")
	l.want("before the first has it", h3, first.JobID)
	l.want("before the first has it", h2, first.JobID)
	began := time.Now()
	l.want("the first", h1, "")
	if ahead, wait := l.stage(h2); ahead != first.JobID || wait > max(time.Second, time.Since(began)/2) {
		t.Errorf("while the first works the second waits for %s for %v", ahead, wait)
	}
	l.release(h2, false)
	if ahead, wait := l.stage(h3); ahead != first.JobID || wait < 900*time.Millisecond {
		t.Errorf("the third waits for %s for %v; it is the second after the first", ahead, wait)
	}
	l.release(h3, false)
	b.complete(h1)
	h3 = l.again(third)
	l.want("it comes back first", h3, second.JobID)
	l.release(h3, false)
	h2 = l.again(second)
	l.want("the second", h2, "")
	b.complete(h2)
	h3 = l.again(third)
	l.want("the third", h3, "")
	l.want("the third again", h3, "")
}

// testOrderWaits: a job that waits for a service that is down holds up no other job on its document.
func testOrderWaits(_ *testing.T, b *bench) {
	l := b.line()
	first, h1 := l.join(1, "")
	_, h2 := l.join(2, "")
	l.want("while it runs", h2, first.JobID)
	l.release(h1, true)
	h1 = l.again(first)
	l.want("while it runs again", h2, first.JobID)
	l.release(h1, true)
	l.want("while it waits", h2, "")
	other := b.line()
	_, h := other.join(0, "")
	other.want("another document", h, "")
}

// testOrderRemoval: a removal waits for the end of an earlier job that tries again, which would undo it. A newer version
// does not: it takes the place of one that could not be read, and that finds it when it comes back.
func testOrderRemoval(t *testing.T, b *bench) {
	for more, waits := range map[string]bool{"": false, `,"delete":false`: false, `,"delete":true`: true} {
		l := b.line()
		first, h1 := l.join(1, "")
		l.want("the first", h1, "")
		after := time.Millisecond
		if waits {
			after = 10 * time.Second
		}
		if _, err := b.Retry(b.ctx(), store.Retry{Holder: h1, After: after, Error: badInput}); err != nil {
			t.Fatal(err)
		}
		_, h2 := l.join(2, more)
		ahead := ""
		if waits {
			ahead = first.JobID
		}
		l.want("a later job with "+more, h2, ahead)
		if !waits {
			l.finish(h2, "new")
			l.wantSuperseded("the first", l.comeBack(first), h2)
		}
	}
}

// testOrderAddress: a removal also waits for an earlier ingest of an address, which has the document's name only since it
// staged it, and for one of the address that the document is from. An ingest of another address holds nothing up.
func testOrderAddress(t *testing.T, b *bench) {
	for _, query := range []string{"", "?sig=1"} {
		l := b.line()
		address := "https://h/" + l.filename + query
		begin := func(n int, payload string) (store.Begin, store.Holder) {
			return b.run(func(m *store.Begin) {
				m.Payload = json.RawMessage(`{"document_set":"one",` + payload + `}`)
				m.Source.InsertedAt = l.start.Add(time.Duration(n) * time.Second)
			})
		}
		want := func(h store.Holder, blob, ahead string) {
			t.Helper()
			_, err := b.StageDocument(b.ctx(), store.Staging{Holder: h, DocumentSet: "one", Filename: l.filename, Blob: blob})
			got := ""
			if busy, ok := errors.AsType[*store.BusyError](err); ok {
				got, err = busy.JobID, nil
			}
			if err != nil || got != ahead {
				t.Errorf("with the query %q %s waits for %q, want for %q; %v", query, h.JobID, got, ahead, err)
			}
		}
		_, h2 := begin(2, `"source_uri":"https://h/elsewhere.pdf"`)
		l.release(h2, false)
		first, h1 := begin(1, `"source_uri":"`+address+`"`)
		want(h1, address, "")
		if _, err := b.Retry(b.ctx(), store.Retry{Holder: h1, After: time.Millisecond, Error: badInput}); err != nil {
			t.Fatal(err)
		}
		_, removal := begin(3, `"delete":true,"filename":"`+l.filename+`"`)
		want(removal, l.filename, first.JobID)
		want(removal, l.filename, first.JobID)
		h1 = l.again(first)
		want(h1, address, "")
		b.complete(h1)
		want(removal, l.filename, "")
		b.complete(removal)

		b.ingestFrom("one", l.filename, address, "bytes")
		l.start = time.Now() // what comes now was sent later
		again, h4 := begin(4, `"source_uri":"https://h/`+l.filename+`"`)
		ahead := ""
		if query == "" {
			ahead = again.JobID
		}
		_, removal = begin(5, `"delete":true,"filename":"`+l.filename+`"`)
		want(removal, l.filename, ahead)
		b.complete(removal)
		b.complete(h4)
	}
}

// testOrderOutbox: the place of a job is that of its message, also if it is sent again, done again, or to be done later.
func testOrderOutbox(t *testing.T, b *bench) {
	const removal = `,"delete":true`
	l := b.line()
	m, h := l.join(1, "")
	l.release(h, false)
	if !b.resend(h, store.SweepAges{UnstartedFor: hour, AgainAfter: hour}, "again") {
		t.Fatal("it is not sent again")
	}
	if err := b.MarkSent(b.ctx(), m.JobID, "again"); err != nil {
		t.Fatal(err)
	}
	l.again(m)
	_, r := l.join(2, removal)
	l.want("a job that was sent again", r, m.JobID)

	l = b.line()
	m, _ = l.join(1, "")
	b.later(m, `{"force":true}`)
	last, r := l.join(2, removal)
	b.later(last, `{"force":true}`)
	l.want("jobs that are to be done again later", r, m.JobID)

	l = b.line()
	m, h = l.join(1, "")
	b.complete(h)
	_, r = l.join(2, removal)
	again := anotherMessage(m)
	again.Force, again.Source.InsertedAt = true, time.Now()
	l.again(again)
	l.want("a job that was forced after it", r, "")

	l = b.line()
	for i := range 150 {
		_, r = l.join(i, "")
	}
	if _, wait := l.stage(r); wait > time.Minute { // after two it would not be ahead of others
		t.Errorf("the last of 150 waits %v", wait)
	}
}
