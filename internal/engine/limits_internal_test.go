package engine

import (
	"log/slog"
	"strconv"
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

// TestBacklogIsForgotten: once a backlog is gone, a message that has to wait is not hidden for as long as its last one was.
func TestBacklogIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(4, slog.New(slog.DiscardHandler))
		l.of(task.Ingest).took = 10 * time.Minute
		for range 3000 {
			l.enter(task.Ingest, 1, backlogMost)
		}
		time.Sleep(3 * time.Minute) // virtual; the queue was purged
		l.leave(task.Ingest)
		if wait := l.enter(task.Ingest, 1, backlogMost); wait != 0 {
			t.Fatalf("the place is free, and the message waits for %v", wait)
		}
		if wait := l.enter(task.Ingest, 1, backlogMost); wait > 2*limitLongest {
			t.Errorf("the next one waits for %v", wait)
		}
	})
}

// TestRecoveringLimitHidesForMinutes: a limit that was lowered soon rises again. Places must not stay empty for long then.
func TestRecoveringLimitHidesForMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(4, slog.New(slog.DiscardHandler))
		l.of(task.Ingest).now = 1
		for range 6000 {
			if wait := l.enter(task.Ingest, 0, backlogMost); wait > 2*urgentMost {
				t.Fatalf("a message is hidden for %v", wait)
			}
		}
	})
}

// TestDeferredIsBounded: senders choose the ids of jobs, and how many messages wait.
func TestDeferredIsBounded(t *testing.T) {
	t.Parallel()
	d := deferred{by: map[string]putBack{}}
	for i := range 2 * mostDeferred {
		d.put(strconv.Itoa(i), false, time.Minute)
	}
	d.put("begun", true, time.Minute)
	if n := len(d.by); n > mostDeferred+1 || !d.by["begun"].begun {
		t.Errorf("%d are remembered; the one that has begun: %+v", n, d.by["begun"])
	}
}
