package engine

import (
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
)

// queueTroubles records for each queue whether receiving from it works.
type queueTroubles struct {
	log *slog.Logger

	mu sync.Mutex
	by map[string]*Trouble // by queue; nil: the last receive succeeded
}

func newQueueTroubles(log *slog.Logger) *queueTroubles {
	return &queueTroubles{log: log, by: map[string]*Trouble{}}
}

// received records the result of a receive. It logs the first failure in a row, a failure of another class, and the
// recovery; meanwhile polling continues with growing waits.
func (q *queueTroubles) received(queue string, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.by[queue]
	if err == nil {
		if before != nil {
			q.log.Info("receiving again", event.Key, event.QueueUp, "queue", queue, "after",
				time.Since(before.Since).Round(time.Second))
		}
		q.by[queue] = nil
		return
	}
	class, hint := queueTrouble(err)
	q.by[queue] = before.again(time.Now(), class, hint)
	if before == nil || before.Class != class || before.Hint != hint {
		q.log.Error("can't receive; retrying until it works", event.Key, event.QueueDown, "queue", queue,
			"error_class", class, "error", err, "hint", hint)
	}
}

func (q *queueTroubles) trouble(queue string) *Trouble {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.by[queue]
}
