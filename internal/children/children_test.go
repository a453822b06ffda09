package children_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/children"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// recordedAt is when children are recorded in a book, in milliseconds.
const recordedAt = 1_790_000_000_000

// book is a store that notes what it gets.
type book struct {
	mu       sync.Mutex
	calls    []int // children of each call
	recorded map[string]store.Submission
	sent     []string
	marked   string // the message that was marked last
	err      error
	older    bool // its functions are older than the program
}

func (b *book) SubmitChildren(_ context.Context, h store.Holder, all []store.Submission) (map[string]time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if h.JobID != "parent" {
		return nil, fmt.Errorf("holder %+v", h)
	}
	b.calls = append(b.calls, len(all))
	since := map[string]time.Time{}
	for _, s := range all {
		if _, there := b.recorded[s.JobID]; !there {
			b.recorded[s.JobID], since[s.JobID] = s, time.UnixMilli(recordedAt)
		}
	}
	if b.older {
		return nil, b.err
	}
	return since, b.err
}

func (b *book) MarkSent(_ context.Context, id, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent, b.marked = append(b.sent, id), text
	return nil
}

func newSubmitter(t *testing.T) (children.Submitter, *book, map[task.Priority]queue.Queue) {
	t.Helper()
	service := memory.New(memory.Options{})
	names := task.QueueNames("acme")
	queues := map[task.Priority]queue.Queue{
		task.PriorityHigh: service.Queue(names.High), task.PriorityNormal: service.Queue(names.Normal),
		task.PriorityLow: service.Queue(names.Low),
	}
	for _, q := range queues {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	bucket := dir.New(t.TempDir())
	if err := bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := &book{recorded: map[string]store.Submission{}}
	return children.Submitter{
		Store: b, Bucket: bucket, Queue: func(p task.Priority) queue.Queue { return queues[p] },
		MaxAttempts: func(task.Type) int { return 3 }, Most: 1000,
	}, b, queues
}

func tasks(n int, payload string) []task.Task {
	all := make([]task.Task, n)
	for i := range all {
		all[i] = task.Task{
			ID: fmt.Sprint("parent.", i), Type: task.Ingest, Payload: json.RawMessage(payload), Priority: task.PriorityLow,
		}
	}
	return all
}

func depth(t *testing.T, q queue.Queue) int {
	t.Helper()
	n, err := q.Depth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Each child is recorded before its message is sent, and marked after that.
func TestSubmit(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	if err := s.Submit(t.Context(), store.Holder{JobID: "parent"}, tasks(700, `{"filename":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, queues[task.PriorityLow]); n != 700 || len(b.recorded) != 700 || len(b.sent) != 700 || len(b.calls) != 2 {
		t.Errorf("%d messages, %d recorded in calls of %v, %d marked", n, len(b.recorded), b.calls, len(b.sent))
	}
	one := b.recorded["parent.7"]
	if one.Queue != "acme-tasks-low" || one.MaxAttempts != 3 || one.Priority != "low" || one.Fingerprint == "" {
		t.Errorf("recorded %+v", one)
	}
	got, err := queues[task.PriorityLow].Receive(t.Context(), 1, time.Minute)
	if err != nil || len(got) != 1 {
		t.Fatal(len(got), err)
	}
	if d, err := task.Decode(got[0].Text, task.Options{ClientID: "acme"}); err != nil || !strings.HasPrefix(d.Task.ID, "parent.") {
		t.Errorf("%+v, %v", d, err)
	}
}

// Whenever a child's message is sent, it is the same message, also as a claim check that its identity makes it; what is
// marked is what was recorded.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	for what, payload := range map[string]string{
		"as it is": `{"filename":"a"}`, "a claim check": `{"note":"` + strings.Repeat("x", memory.MaxText-100) + `"}`,
	} {
		text, err := task.Encode(tasks(1, payload)[0])
		if err != nil || len(text) > memory.MaxText {
			t.Fatal(len(text), err)
		}
		child := store.Child{ID: "parent.0", Queue: "acme-tasks-low", Message: text, Since: time.UnixMilli(recordedAt)}
		if err := s.Send(t.Context(), []store.Child{child, child}); err != nil {
			t.Fatal(err)
		}
		got, err := queues[task.PriorityLow].Receive(t.Context(), 2, time.Minute)
		if err != nil || len(got) != 2 {
			t.Fatal(len(got), err)
		}
		for _, m := range got {
			d, err := task.Decode(m.Text, task.Options{ClientID: "acme"})
			if want := (task.Origin{
				Queue: "acme-tasks-low", MessageID: fmt.Sprint("outbox:parent.0:", recordedAt), InsertedAt: time.UnixMilli(recordedAt),
			}); err != nil || d.Origin != want || (d.ClaimCheck != "") != (what == "a claim check") || !strings.Contains(m.Text, `"parent.0"`) {
				t.Errorf("%s: %+v, %v", what, d, err)
			}
		}
		if b.marked != text {
			t.Errorf("%s: marked %.100s", what, b.marked)
		}
	}
}

// Of children that are recorded already only those are sent that were not sent.
func TestSubmitRecorded(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	b.recorded["parent.0"] = store.Submission{}
	if err := s.Submit(t.Context(), store.Holder{JobID: "parent"}, tasks(2, `{"filename":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, queues[task.PriorityLow]); n != 1 || fmt.Sprint(b.sent) != "[parent.1]" {
		t.Errorf("%d messages, marked %q", n, b.sent)
	}
}

// Functions that don't say which messages were sent yet: all are sent.
func TestSubmitToOlderFunctions(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	b.older = true
	if err := s.Submit(t.Context(), store.Holder{JobID: "parent"}, tasks(2, `{"filename":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, queues[task.PriorityLow]); n != 2 || len(b.sent) != 2 {
		t.Errorf("%d messages, marked %q", n, b.sent)
	}
}

// Large payloads go in several calls, as claim checks where a queue can't hold them.
func TestSubmitLarge(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	large := `{"metadata":{"note":"` + strings.Repeat("x", 300<<10) + `"}}`
	if err := s.Submit(t.Context(), store.Holder{JobID: "parent"}, tasks(10, large)); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, queues[task.PriorityLow]); n != 10 || len(b.calls) < 3 {
		t.Errorf("%d messages in calls of %v", n, b.calls)
	}
	if m := b.recorded["parent.3"].Message; !strings.Contains(m, "claim_check") {
		t.Errorf("a message of %d bytes", len(m))
	}
}

// small is a queue whose server takes messages of 8 KiB at most.
type small struct{ queue.Queue }

func (q small) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if len(text) > 8<<10 {
		return "", queue.ErrTooLarge
	}
	return q.Queue.Send(ctx, text, o)
}

// A child that is larger than the queue's server allows is recorded as it is, and sent as a claim check.
func TestSubmitToSmallQueue(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	low := queues[task.PriorityLow]
	queues[task.PriorityLow] = small{low}
	if err := s.Submit(t.Context(), store.Holder{JobID: "parent"}, tasks(1, `{"note":"`+strings.Repeat("x", 20<<10)+`"}`)); err != nil {
		t.Fatal(err)
	}
	got, err := low.Receive(t.Context(), 1, time.Minute)
	if err != nil || len(got) != 1 {
		t.Fatal(len(got), err)
	}
	if d, err := task.Decode(got[0].Text, task.Options{ClientID: "acme"}); err != nil || d.ClaimCheck == "" {
		t.Errorf("sent %.100s, %v", got[0].Text, err)
	}
	if recorded := b.recorded["parent.0"].Message; len(recorded) < 20<<10 || b.marked != recorded {
		t.Errorf("recorded %.100s, marked %.100s", recorded, b.marked)
	}
}

// Nothing is sent that was not recorded.
func TestSubmitRefused(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	b.err = store.ErrFenced
	if err := s.Submit(t.Context(), store.Holder{JobID: "parent"}, tasks(3, `{}`)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("got %v", err)
	}
	if n := depth(t, queues[task.PriorityLow]); n != 0 || len(b.sent) != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	s, _, queues := newSubmitter(t)
	s.Most = 2
	for range 2 {
		if err := s.Room(t.Context(), task.PriorityLow); err != nil {
			t.Errorf("with room: %v", err)
		}
		if _, err := queues[task.PriorityLow].Send(t.Context(), "m", queue.SendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if busy, ok := errors.AsType[*store.BusyError](s.Room(t.Context(), task.PriorityLow)); !ok || busy.RetryAfter <= 0 {
		t.Error("a full queue has room")
	}
	if err := s.Room(t.Context(), task.PriorityNormal); err != nil {
		t.Errorf("another queue: %v", err)
	}
}

// What was recorded before is sent to the queue that it was recorded for; that of an older setting is left to a sweep.
func TestSend(t *testing.T) {
	t.Parallel()
	s, b, queues := newSubmitter(t)
	if err := s.Send(t.Context(), []store.Child{
		{ID: "a", Queue: "acme-tasks-high", Message: "m"}, {ID: "b", Queue: "elsewhere", Message: "m"},
	}); err != nil {
		t.Fatal(err)
	}
	if n := depth(t, queues[task.PriorityHigh]); n != 1 || fmt.Sprint(b.sent) != "[a]" {
		t.Errorf("%d messages, marked %q", n, b.sent)
	}
}
