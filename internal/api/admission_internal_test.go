package api

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// waiting is a queue of some depth.
type waiting struct {
	queue.Queue
	depth, looks int
	fail         error
}

func (w *waiting) Depth(context.Context) (int, error) {
	w.looks++
	return w.depth, w.fail
}

// Above the watermark jobs are refused, exactly at it they are accepted again; the queues are looked at once per interval,
// however many submit, and the last number counts while they don't answer.
func TestAdmission(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full, empty := &waiting{depth: 11}, &waiting{}
		a := &API{deps: Deps{HighWatermark: 10}, depth: newDepth(func(p task.Priority) queue.Queue {
			if p == task.PriorityNormal {
				return full
			}
			return empty
		}, newQueueCalls(t.Context(), 1, time.Second))}
		check := func(looks int, refused bool) {
			t.Helper()
			for range 50 {
				err := a.admit(t.Context())
				if p, ok := errors.AsType[*Problem](err); ok != refused || refused && (p.Status != http.StatusServiceUnavailable ||
					p.Code != "QUEUE_OVERLOADED" || p.GetHeaders().Get("Retry-After") != "10") {
					t.Fatalf("admit: %v", err)
				}
			}
			if full.looks != looks {
				t.Errorf("%d looks at the queue, want %d", full.looks, looks)
			}
		}
		check(1, true)
		full.depth = 10
		time.Sleep(depthEvery - time.Millisecond)
		check(1, true)
		time.Sleep(time.Millisecond)
		check(2, false)
		full.depth, full.fail = 1000, errors.New("no answer")
		time.Sleep(depthEvery)
		check(3, false)
		full.fail = nil
		time.Sleep(depthEvery)
		check(4, true)
		empty.fail = errors.New("no right to look") // of one queue: the others are looked at
		full.depth = 10
		time.Sleep(depthEvery)
		check(5, false)
		full.depth = 11
		time.Sleep(depthEvery)
		check(6, true)
	})
}
