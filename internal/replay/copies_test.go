package replay_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func newQueue(t *testing.T, texts ...string) queue.Queue {
	t.Helper()
	q := memory.New(memory.Options{}).Queue("c-tasks-deadletter")
	if err := q.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := q.Send(t.Context(), text, queue.SendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return q
}

func envelope(id string) string { return fmt.Sprintf(`{"id":%q,"reason":"permanent"}`, id) }

// visible is how many messages anybody could receive now.
func visible(t *testing.T, q queue.Queue) int {
	t.Helper()
	n := 0
	for {
		batch, err := q.Receive(t.Context(), queue.MaxBatch, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			return n
		}
		n += len(batch)
	}
}

func TestRemoveCopies(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 100 {
		texts = append(texts, envelope(fmt.Sprintf("d%d", i)))
	}
	texts = append(texts, "no JSON", `{"id":7}`, `[]`, base64.StdEncoding.EncodeToString([]byte(envelope("wrapped"))))
	q := newQueue(t, texts...)
	got, err := replay.RemoveCopies(t.Context(), q, []string{"d3", "d98", "wrapped", "not there"})
	want := replay.Copies{Removed: 3, Left: 1, Looked: len(texts), Complete: true, Letters: []string{"not there"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if n := visible(t, q); n != len(texts)-3 {
		t.Errorf("%d messages are visible, want %d: others were kept or removed", n, len(texts)-3)
	}
}

// It ends as soon as it has all, and needs no queue.
func TestRemoveCopiesStops(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 100 {
		texts = append(texts, envelope(fmt.Sprintf("d%d", i)))
	}
	got, err := replay.RemoveCopies(t.Context(), newQueue(t, texts...), []string{"d3"})
	if want := (replay.Copies{Removed: 1, Looked: queue.MaxBatch, Complete: true}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	none := memory.New(memory.Options{}).Queue("c-tasks-deadletter")
	if got, err = replay.RemoveCopies(t.Context(), none, []string{"d3"}); err != nil || got.Left != 1 || !got.Complete {
		t.Errorf("no queue: %+v, %v", got, err)
	}
}

// A search for all copies goes on behind what one walk looks at, if the queue shows the others then. What it can't see,
// or is not sure to have removed, is not complete.
func TestRemoveAllCopies(t *testing.T) {
	t.Parallel()
	many := func(o memory.Options, n int) queue.Queue {
		q := memory.New(o).Queue("c-tasks-deadletter")
		err := q.Ensure(t.Context())
		for i := range n {
			_, sendErr := q.Send(t.Context(), envelope(fmt.Sprintf("d%d", i)), queue.SendOptions{})
			err = errors.Join(err, sendErr)
		}
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	held := many(memory.Options{}, 40)
	if _, err := held.Receive(t.Context(), 1, time.Hour); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		queue    queue.Queue
		wanted   string
		removed  int
		complete bool
	}{
		"behind others":                  {many(memory.Options{}, 5000), "d4999", 1, true},
		"not there":                      {many(memory.Options{}, 2017), "none", 0, true},
		"in somebody else's hands":       {held, "d0", 0, false},
		"the queue shows the same first": {many(memory.Options{OldestFirst: true}, 5000), "d4999", 1, true},
		"removed by somebody else":       {&lost{many(memory.Options{}, 40)}, "d39", 0, false},
	} {
		got, err := replay.RemoveAllCopies(t.Context(), c.queue, []string{c.wanted}, func(int) {})
		if err != nil || got.Removed != c.removed || got.Left != 1-c.removed || got.Complete != c.complete {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := replay.RemoveAllCopies(t.Context(), &slow{Queue: held, fail: queue.ErrDenied}, []string{"d0"}, nil); !errors.Is(err,
		queue.ErrDenied) {
		t.Errorf("a queue that can't be read: %v", err)
	}
}

// lost is a queue whose leases end before a message is deleted.
type lost struct{ queue.Queue }

func (l *lost) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	batch, err := l.Queue.Receive(ctx, n, visibility)
	for _, m := range batch {
		m.Lease = lostLease{m.Lease}
	}
	return batch, err
}

type lostLease struct{ queue.Lease }

func (lostLease) Delete(context.Context) error { return queue.ErrLeaseLost }

// slow takes a while for each batch, and may be told to fail.
type slow struct {
	queue.Queue
	takes time.Duration
	fail  error
}

func (s *slow) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	timer := time.NewTimer(s.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.Queue.Receive(ctx, n, visibility)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A queue that is longer than the search may take: it ends in time, puts all back, and says what is left.
func TestRemoveCopiesIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var texts []string
		for i := range 640 {
			texts = append(texts, envelope(fmt.Sprintf("d%d", i)))
		}
		q := newQueue(t, texts...)
		got, err := replay.RemoveCopies(t.Context(), &slow{Queue: q, takes: 10 * time.Second}, []string{"d0", "d639"})
		want := replay.Copies{Removed: 1, Left: 1, Looked: 4 * queue.MaxBatch, Letters: []string{"d639"}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
		if n := visible(t, q); n != len(texts)-1 {
			t.Errorf("%d messages are visible, want %d", n, len(texts)-1)
		}

		// An interruption puts all back as well, and is reported.
		ctx, interrupt := context.WithTimeout(t.Context(), 15*time.Second)
		defer interrupt()
		q = newQueue(t, texts...)
		if got, err = replay.RemoveCopies(ctx, &slow{Queue: q, takes: 10 * time.Second},
			[]string{"d639"}); !errors.Is(err, context.DeadlineExceeded) || got.Left != 1 {
			t.Errorf("interrupted: %+v, %v", got, err)
		}
		if n := visible(t, q); n != len(texts) {
			t.Errorf("%d messages are visible after an interruption, want %d", n, len(texts))
		}
		broken := errors.New("403")
		if got, err = replay.RemoveCopies(t.Context(), &slow{Queue: q, fail: broken}, []string{"d639"}); !errors.Is(err,
			broken) || got.Left != 1 {
			t.Errorf("broken: %+v, %v", got, err)
		}
	})
}

// What was looked at stays hidden until the whole queue was, however slow it is.
func TestRemoveAllCopiesOfASlowQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := memory.New(memory.Options{OldestFirst: true}).Queue("c-tasks-deadletter")
		const all = 7000
		err := q.Ensure(t.Context())
		for i := range all {
			_, sendErr := q.Send(t.Context(), envelope(fmt.Sprintf("d%d", i)), queue.SendOptions{})
			err = errors.Join(err, sendErr)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := replay.RemoveAllCopies(t.Context(), &slow{Queue: q, takes: 700 * time.Millisecond},
			[]string{fmt.Sprintf("d%d", all-1)}, func(int) {})
		if want := (replay.Copies{Removed: 1, Looked: all, Complete: true}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	})
}
