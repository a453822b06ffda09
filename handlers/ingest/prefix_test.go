package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// line is a queue of the jobs that a job submits; after some of them the worker dies.
type line struct {
	store store.Store
	left  int // messages that are sent before the worker dies; negative: it lives
	full  bool
	sent  map[string]task.Task // by id
	twice []string
}

var errDied = errors.New("the worker died")

func (l *line) Room(context.Context, task.Priority) error {
	if l.full {
		return &store.BusyError{RetryAfter: time.Minute}
	}
	return nil
}

func (l *line) Submit(ctx context.Context, h store.Holder, tasks []task.Task) error {
	all := make([]store.Submission, len(tasks))
	unsent := make([]store.Child, len(tasks))
	for i, t := range tasks {
		text, err := json.Marshal(t)
		if err != nil {
			return err
		}
		all[i] = store.Submission{Task: store.Task{
			JobID: t.ID, Type: string(t.Type), Payload: t.Payload, Priority: string(t.Priority), MaxAttempts: 3,
			Fingerprint: t.ID, RequestedBy: t.RequestedBy,
		}, Queue: "acme-tasks-low", Message: string(text)}
		unsent[i] = store.Child{ID: t.ID, Message: string(text)}
	}
	if _, err := l.store.SubmitChildren(ctx, h, all); err != nil {
		return err
	}
	return l.Send(ctx, unsent)
}

func (l *line) Send(ctx context.Context, unsent []store.Child) error {
	for _, c := range unsent {
		if l.left == 0 {
			return errDied
		}
		l.left--
		var t task.Task
		if err := json.Unmarshal([]byte(c.Message), &t); err != nil {
			return err
		}
		if _, again := l.sent[t.ID]; again {
			l.twice = append(l.twice, t.ID)
		}
		l.sent[t.ID] = t
		if err := l.store.MarkSent(ctx, c.ID, c.Message); err != nil {
			return err
		}
	}
	return nil
}

// work does the jobs of the line.
func (b *bench) work(l *line) {
	b.Helper()
	for id, t := range l.sent {
		c := b.BeginAs(id, t.Type, string(t.Payload), t.Hints)
		out, err := b.handler.Handle(b.Context(), c)
		if err != nil {
			b.Fatalf("%s: %v", t.Payload, err)
		}
		b.complete(c, out)
		delete(l.sent, id)
	}
}

func newLine(t *testing.T) (*bench, *line) {
	t.Helper()
	b := newBench(t)
	l := &line{store: b.Store, left: -1, sent: map[string]task.Task{}}
	b.rebuild(func(d *ingest.Deps) { d.Children = l })
	return b, l
}

// spread runs a task with a prefix to its end.
func (b *bench) spread(payload string, hints task.Hints) (r ingest.Spread) {
	b.Helper()
	c := b.Begin(payload, hints)
	c.Task.RequestedBy = "user-17"
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.Complete(c, out, &r)
	return r
}

func counts(r ingest.Spread) string {
	return fmt.Sprintf("listed %d submitted %d unchanged %d deletions %d skipped %d", r.Listed, r.Submitted, r.Unchanged,
		r.Deletions, r.Skipped)
}

func (b *bench) want(r ingest.Spread, want string) {
	b.Helper()
	if got := counts(r); got != want {
		b.Errorf("%s, want %s", got, want)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	for _, name := range []string{"in/a.md", "in/b.md", "in/deep/c.md", "other/d.md"} {
		b.Put(name, "# "+name+"\n\nThe text of "+name)
	}
	const payload = `{"document_set":"docs","prefix":"in/","metadata":{"owner":"me","n":9007199254740993}}`
	b.want(b.spread(payload, task.Hints{}), "listed 3 submitted 3 unchanged 0 deletions 0 skipped 0")
	for _, sent := range l.sent {
		if sent.Priority != task.PriorityLow || sent.RequestedBy != "user-17" ||
			!strings.Contains(string(sent.Payload), `"metadata":{"n":9007199254740993,"owner":"me"}`) {
			t.Errorf("sent %+v", sent)
		}
	}
	b.work(l)
	if n := handlertest.Query[int](b.Bench, `select count(*) from jobs c join jobs p on p.id = c.parent_job_id
		where p.payload ? 'prefix' and c.status = 'succeeded'`); n != 3 {
		t.Errorf("%d children", n)
	}
	b.want(b.spread(payload, task.Hints{}), "listed 3 submitted 0 unchanged 3 deletions 0 skipped 0")
	b.Put("in/b.md", "# in/b.md\n\nAnother text")
	b.Put("in/e.md", "# in/e.md\n\nA new text")
	b.want(b.spread(payload, task.Hints{}), "listed 4 submitted 2 unchanged 2 deletions 0 skipped 0")
	b.work(l)
	b.want(b.spread(payload, task.Hints{}), "listed 4 submitted 0 unchanged 4 deletions 0 skipped 0")
	b.want(b.spread(payload, task.Hints{Force: true}), "listed 4 submitted 4 unchanged 0 deletions 0 skipped 0")
	if len(l.twice) > 0 {
		t.Errorf("sent twice: %q", l.twice)
	}
	// A document that has another name keeps it.
	b.work(l)
	b.ingest(`{"document_set":"docs","filename":"Named.md","blob":"other/d.md"}`, task.Hints{})
	b.Put("other/d.md", "# Changed\n\nAnother text")
	b.want(b.spread(`{"document_set":"docs","prefix":"other"}`, task.Hints{}), "listed 1 submitted 1 unchanged 0 deletions 0 skipped 0")
	b.work(l)
	if n := handlertest.Query[int](b.Bench, `select active_version from documents where filename = 'Named.md'`); n != 2 {
		t.Errorf("version %d of the named document", n)
	}
}

// The worker's own blobs are no documents, unless they are asked for.
func TestPrefixOfEverything(t *testing.T) {
	t.Parallel()
	b, _ := newLine(t)
	for _, name := range []string{"a.md", "derived/a.md/1.md", "tasks/x.json", "exports/y.pptx"} {
		b.Put(name, "text")
	}
	b.want(b.spread(`{"document_set":"docs","prefix":""}`, task.Hints{}), "listed 1 submitted 1 unchanged 0 deletions 0 skipped 3")
	b.want(b.spread(`{"document_set":"docs","prefix":"derived/"}`, task.Hints{}), "listed 1 submitted 1 unchanged 0 deletions 0 skipped 0")
}

// A worker that dies anywhere leaves nothing unsent and sends nothing twice.
func TestPrefixCrash(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	const n = 7
	for i := range n {
		b.Put(fmt.Sprintf("in/%d.md", i), fmt.Sprintf("# Text %d", i))
	}
	c := b.Begin(`{"document_set":"docs","prefix":"in/"}`, task.Hints{})
	for _, l.left = range []int{0, 3, 2} {
		if _, err := b.handler.Handle(t.Context(), c); !errors.Is(err, errDied) {
			t.Fatalf("got %v", err)
		}
	}
	b.work(l) // a child may end before its parent goes on
	l.left = -1
	out, err := b.handler.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var r ingest.Spread
	b.Complete(c, out, &r)
	b.want(r, fmt.Sprintf("listed %d submitted %d unchanged 0 deletions 0 skipped 0", n, n))
	if len(l.sent) != 2 || len(l.twice) > 0 {
		t.Errorf("%d messages are new, %q were sent twice", len(l.sent), l.twice)
	}
	if unsent := handlertest.Query[int](b.Bench, `select count(*) from jobs where parent_job_id is not null and sent_at is null`); unsent > 0 {
		t.Errorf("%d are not sent", unsent)
	}
}

// An attempt that lost its job submits nothing more.
func TestPrefixFenced(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	b.Put("in/a.md", "text")
	c := b.Begin(`{"document_set":"docs","prefix":"in/"}`, task.Hints{})
	if _, err := b.Store.Release(t.Context(), store.Release{Holder: c.Holder}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.handler.Handle(t.Context(), c); !errors.Is(err, store.ErrFenced) || len(l.sent) > 0 {
		t.Errorf("got %v, and %d messages", err, len(l.sent))
	}
}

// While the queue is full the job waits, and does not go on.
func TestPrefixFullQueue(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	b.Put("in/a.md", "text")
	l.full = true
	c := b.Begin(`{"document_set":"docs","prefix":"in/"}`, task.Hints{})
	if _, err := b.handler.Handle(t.Context(), c); !busy(err) || len(l.sent) > 0 {
		t.Errorf("got %v, and %d messages", err, len(l.sent))
	}
}

// TestPrefixPending: what another task has submitted and is not done yet gets no second job: a schedule may fire before
// the jobs of its last firing have ended.
func TestPrefixPending(t *testing.T) {
	t.Parallel()
	b, l := newLine(t)
	const payload = `{"document_set":"docs","prefix":"in/","delete_missing":true}`
	want := func(r ingest.Spread, pending int, counts string) {
		t.Helper()
		if b.want(r, counts); r.Pending != pending {
			t.Errorf("%d are pending, want %d", r.Pending, pending)
		}
	}
	b.Put("in/a.md", "# A")
	b.Put("in/b.md", "# B")
	want(b.spread(payload, task.Hints{}), 0, "listed 2 submitted 2 unchanged 0 deletions 0 skipped 0")
	b.Put("in/b.md", "# B, changed")
	want(b.spread(payload, task.Hints{}), 1, "listed 2 submitted 1 unchanged 0 deletions 0 skipped 0")
	want(b.spread(payload, task.Hints{}), 2, "listed 2 submitted 0 unchanged 0 deletions 0 skipped 0")
	b.work(l)
	want(b.spread(payload, task.Hints{}), 0, "listed 2 submitted 0 unchanged 2 deletions 0 skipped 0")
	if err := b.Bucket.Remove(t.Context(), "in/a.md"); err != nil {
		t.Fatal(err)
	}
	want(b.spread(payload, task.Hints{}), 0, "listed 1 submitted 0 unchanged 1 deletions 1 skipped 0")
	want(b.spread(payload, task.Hints{}), 0, "listed 1 submitted 0 unchanged 1 deletions 0 skipped 0")
	want(b.spread(payload, task.Hints{Force: true}), 0, "listed 1 submitted 1 unchanged 0 deletions 1 skipped 0")
}
