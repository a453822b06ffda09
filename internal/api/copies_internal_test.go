package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// gated is a queue from which nothing is received until it is let.
type gated struct {
	queue.Queue
	let      chan struct{}
	receives int
}

func (w *gated) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	w.receives++
	select {
	case <-w.let:
		return w.Queue.Receive(ctx, n, visibility)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// copiesBench are copies on a queue with some messages, and the log.
func copiesBench(ctx context.Context, t *testing.T, ids ...string) (*copies, *gated, *bytes.Buffer) {
	t.Helper()
	q := &gated{Queue: memory.New(memory.Options{}).Queue("dead"), let: make(chan struct{})}
	if err := q.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if _, err := q.Send(t.Context(), fmt.Sprintf(`{"id":%q}`, id), queue.SendOptions{TTL: queue.Never}); err != nil {
			t.Fatal(err)
		}
	}
	log := &bytes.Buffer{}
	return newCopies(ctx, q, 2*time.Second, slog.New(slog.NewTextHandler(log, nil))), q, log
}

// Copies whose removal is asked for while another search is under way are removed by the next one, all of them together.
// A request waits for its own search for a moment, and not at all while searches are slow.
func TestCopiesMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ids := []string{"other"}
		for i := range 200 {
			ids = append(ids, fmt.Sprintf("d%d", i))
		}
		c, q, log := copiesBench(t.Context(), t, ids...)
		waits := func(want time.Duration, letter string) {
			t.Helper()
			begin := time.Now()
			if c.remove([]string{letter}); time.Since(begin) != want {
				t.Errorf("%s: it waited %v, want %v", letter, time.Since(begin), want)
			}
		}
		waits(2*time.Second, "d0")
		for _, id := range ids[2:] {
			waits(0, id)
		}
		close(q.let)
		synctest.Wait()
		if most := 1 + (200+queue.MaxBatch-1)/queue.MaxBatch; q.receives > most {
			t.Errorf("the queue was asked %d times for messages, want %d: by two searches", q.receives, most)
		}
		time.Sleep(time.Minute)
		left, err := q.Receive(t.Context(), queue.MaxBatch, time.Second)
		if err != nil || len(left) != 1 || left[0].Text != `{"id":"other"}` {
			t.Errorf("%d copies are left, %v", len(left), err)
		}
		waits(0, "missing") // it is quick again
		synctest.Wait()
		time.Sleep(time.Minute)
		q.let = make(chan struct{})
		waits(2*time.Second, "last")
		close(q.let)
		c.end()
		if text := log.String(); !strings.Contains(text, "dead_letters=[missing]") {
			t.Errorf("the log says %s", text)
		}
	})
}

// Only so many ids are pending; the log names some of those that are too many, and of those that are given up at the end.
func TestPendingCopiesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		c, _, log := copiesBench(ctx, t)
		c.remove([]string{"first"})
		many := make([]string, mostPending)
		for i := range many {
			many[i] = fmt.Sprintf("d%05d", i)
		}
		c.remove(many)
		c.remove([]string{"late", "later"})
		if text := log.String(); !strings.Contains(text, `copies=2 dead_letters="[late later]"`) {
			t.Errorf("the log says %.500s", text)
		}
		log.Reset()
		end()
		c.end()
		if text := log.String(); !strings.Contains(text, "copies=1 dead_letters=[first]") ||
			!strings.Contains(text, "copies=10000") || strings.Count(text, " d0") != mostNamed-1 {
			t.Errorf("at the end the log says %.500s", text)
		}
	})
}
