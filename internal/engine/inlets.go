package engine

import (
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
)

// inlets know how receiving from each queue goes.
type inlets struct {
	log *slog.Logger

	mu sync.Mutex
	by map[string]*Trouble // by queue; nil: the last receive went well
}

func newInlets(log *slog.Logger) *inlets {
	return &inlets{log: log, by: map[string]*Trouble{}}
}

// received notes how a receive ended. The first failure in a row is logged, one of another sort, and the
// recovery; polling goes on with longer and longer waits meanwhile.
func (i *inlets) received(queue string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.by[queue]
	if err == nil {
		if before != nil {
			i.log.Info("receiving again", event.Key, event.QueueUp, "queue", queue, "after", time.Since(before.Since).Round(time.Second))
		}
		i.by[queue] = nil
		return
	}
	class, hint := queueTrouble(err)
	i.by[queue] = before.again(time.Now(), class, hint)
	if before == nil || before.Class != class || before.Hint != hint {
		i.log.Error("can't receive; trying again until it works", event.Key, event.QueueDown, "queue", queue, "error_class", class, "error", err, "hint", hint)
	}
}

func (i *inlets) trouble(queue string) *Trouble {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.by[queue]
}
