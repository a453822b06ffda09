package engine

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestUrgentBacklogIsSpread: messages that are urgent or have begun come back one after the other, too: thousands that come
// back at once would leave the queue to no other type. They do so within minutes, and not behind what has not begun.
func TestUrgentBacklogIsSpread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(4, slog.New(slog.DiscardHandler))
		if wait := l.enter(task.Ingest, 1, backlogMost); wait != 0 {
			t.Fatalf("the first waits for %v", wait)
		}
		var longest time.Duration
		for range 3000 {
			longest = max(longest, l.enter(task.Ingest, 1, backlogMost))
		}
		first := l.enter(task.Ingest, 1, urgentMost)
		last := first
		for range 3000 {
			last = max(last, l.enter(task.Ingest, 1, urgentMost))
		}
		if longest <= urgentMost || first > 2*limitLongest || last < urgentMost/2 || last > 2*urgentMost {
			t.Errorf("the backlog is hidden for up to %v, the first urgent one for %v, the last for %v", longest, first, last)
		}
	})
}
