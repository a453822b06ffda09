package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	// escapeAfter is how long a flood of high can keep normal from being polled.
	escapeAfter = 15 * time.Second
	// oldAfter is the age from which messages of normal share the slots with high.
	oldAfter = 30 * time.Second
	// highTrust is how long high counts as empty while there is a backlog of normal.
	highTrust = 200 * time.Millisecond
	// failedTrust is how long a queue must fail to count as empty.
	failedTrust = 30 * time.Second
)

// fill receives into free slots, by priority, and starts what came. It returns how many slots it took.
//
// High is served before normal, normal before low. Low is polled only when the others are empty: under permanent load
// it waits without a bound. A queue that does not answer counts as empty when it has failed for failedTrust, so that
// one which is denied or deleted holds up low no longer than that. High never starves normal. When high left it no
// slot for escapeAfter, normal is polled first, for one slot. While its messages are older than oldAfter it is polled
// first for as many slots as it lacks of half of them (rounded down; with one slot, every second poll). So high keeps
// at least half of the slots. A message of normal behind N others waits, with C slots and tasks that take at most L
// (with settlement and collectTime), at most
//
//	escapeAfter + 2·L                          when N = 0
//	oldAfter + escapeAfter + 2·L + N·2·L       when C = 1
//	oldAfter + escapeAfter + 2·L + ⌈N/⌊C/2⌋⌉·L when C > 1
//
// if the queue is ordered and available. When high was empty it is not polled again within highTrust while normal fills
// all slots: that long a new message of high may wait, unless Wake was called for it.
func (p *poller) fill(ctx context.Context, free int) (got int, err error) {
	ask := func(q queue.Queue, n int) (mayHaveMore bool) {
		if n <= 0 {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		started, failed := p.receive(ctx, q, n)
		got += len(started)
		err = errors.Join(err, failed) // a queue that fails doesn't hold up the others
		switch q {
		case p.deps.Queues.High:
			p.priority.askedHigh(n, len(started), failed)
		case p.deps.Queues.Normal:
			p.priority.askedNormal(started, failed)
		}
		return len(started) == n
	}
	high, normal := p.deps.Queues.High, p.deps.Queues.Normal
	more := ask(normal, min(free, p.priority.normalFirst()))
	late := p.backlog && p.priority.highEmpty() && !p.woken()
	if !late {
		ask(high, free-got)
	}
	if more {
		ask(normal, free-got)
	}
	if late {
		ask(high, free-got)
	}
	if got == 0 && p.holdsNothing(high) && p.holdsNothing(normal) {
		ask(p.deps.Queues.Low, free)
	}
	return got, err
}

// holdsNothing reports whether a queue that gave no message counts as empty.
func (p *poller) holdsNothing(q queue.Queue) bool {
	failing := p.queueTroubles.trouble(q.Name())
	return failing == nil || time.Since(failing.Since) >= failedTrust
}

// scheduler decides which queue is polled next: high or normal.
type scheduler struct {
	total   int
	normals atomic.Int64 // running messages of normal

	asked   time.Time // when normal was last polled; initially, the start of the worker
	old     bool      // the messages of normal were older than oldAfter
	served  bool      // normal was served after high was
	emptied time.Time // when high last had fewer messages than requested; zero: it may have more
}

// started counts a message that is started; ended must be called when it has ended.
func (t *scheduler) started(normal bool) (ended func()) {
	if !normal {
		return func() {}
	}
	t.normals.Add(1)
	return func() { t.normals.Add(-1) }
}

// normalFirst is for how many slots normal is polled before high.
func (t *scheduler) normalFirst() int {
	starved := time.Since(t.asked) >= escapeAfter
	switch {
	case !t.emptied.IsZero() || !t.old && !starved:
		return 0 // high leaves something for normal
	case t.total == 1 && t.served:
		return 0
	case t.total == 1:
		return 1
	}
	share := max(0, t.total/2-int(t.normals.Load()))
	if !t.old {
		return min(1, share)
	}
	return share
}

func (t *scheduler) askedNormal(got []*queue.Message, err error) {
	t.asked = time.Now()
	if len(got) > 0 {
		t.served = true
	}
	if len(got) == 0 && err == nil {
		t.old = false
	}
	for _, m := range got {
		if m.DequeueCount <= 1 { // the age of a message that was put back says nothing about the others
			t.old = time.Since(m.InsertedAt) > oldAfter
		}
	}
}

func (t *scheduler) askedHigh(asked, got int, err error) {
	t.served, t.emptied = false, time.Time{}
	if err == nil && got < asked {
		t.emptied = time.Now()
	}
}

// highEmpty reports whether high need not be polled yet.
func (t *scheduler) highEmpty() bool { return !t.emptied.IsZero() && time.Since(t.emptied) < highTrust }
