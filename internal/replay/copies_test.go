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
	want := replay.Copies{Removed: 3, Left: 1, Looked: len(texts), Letters: []string{"not there"}}
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
	if want := (replay.Copies{Removed: 1, Looked: queue.MaxBatch}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	none := memory.New(memory.Options{}).Queue("c-tasks-deadletter")
	if got, err = replay.RemoveCopies(t.Context(), none, []string{"d3"}); err != nil || got.Left != 1 {
		t.Errorf("no queue: %+v, %v", got, err)
	}
}

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
