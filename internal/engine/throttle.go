package engine

import (
	"log/slog"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	// rejectedMost bounds the wait between two polls whose messages are all rejected, unless PollMin is longer.
	rejectedMost = 250 * time.Millisecond
	// outboxFull and outboxDrained are the due webhooks above which tasks are taken one by one, and below which the
	// worker is back to normal.
	outboxFull    = 1000
	outboxDrained = 500
)

// throttle is how fast the engine polls. It slows down
//
//   - while the queues are empty: from PollMin, doubling up to PollMax;
//   - while every message that comes is rejected, because its type is at its limit or a service it needs is down: there
//     may be others behind;
//   - while the store fails or answers slowly (storeThrottle);
//   - while webhooks are not delivered as fast as tasks end: each task adds one.
type throttle struct {
	store    storeThrottle
	webhooks func() int // due in the outbox; nil: unknown
	log      *slog.Logger

	mu                 sync.Mutex
	pollMin, pollMax   time.Duration
	idle               time.Duration // the last wait after a poll
	admitted, rejected int           // messages since the last poll
	rejecting          time.Duration // the last wait because all were rejected
	outboxBehind       bool
}

func newThrottle(pollMin, pollMax time.Duration, webhooks func() int, log *slog.Logger) *throttle {
	t := &throttle{log: log, webhooks: webhooks, store: storeThrottle{log: log}}
	t.setBounds(pollMin, pollMax)
	return t
}

// setBounds changes the shortest and the longest wait between two polls.
func (t *throttle) setBounds(pollMin, pollMax time.Duration) {
	t.store.setLongest(pollMax)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pollMin, t.pollMax = pollMin, pollMax
}

// admit and reject count what became of the messages that were received.
func (t *throttle) admit() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.admitted++
}

func (t *throttle) reject() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rejected++
}

// batch is the most messages to receive at a time. It is never zero: if the count of webhooks is wrong, tasks go on.
func (t *throttle) batch() int {
	if t.webhooks == nil {
		return queue.MaxBatch
	}
	due := t.webhooks()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.outboxBehind && due > outboxFull:
		t.outboxBehind = true
		t.log.Warn("webhooks are not delivered as fast as tasks end: new tasks are taken one by one until they are; "+
			"look at "+
			"what their receivers answer and how fast (webhook_deliveries: url, response_status, latency_ms)",
			"due_at_least", due, "goes_on_below", outboxDrained, "pause", t.pollMax)
	case t.outboxBehind && due < outboxDrained:
		t.outboxBehind = false
		t.log.Info("webhooks are delivered in time again", "due", due)
	}
	if t.outboxBehind {
		return 1
	}
	return queue.MaxBatch
}

// waits returns how long to wait after a poll that asked for some messages, got some, and may have failed. A new
// message ends the first wait early; nothing ends the second.
func (t *throttle) waits(asked, got int, err error) (idle, forced time.Duration) {
	forced = t.store.wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.outboxBehind {
		forced = max(forced, t.pollMax)
	}
	return max(t.afterPoll(asked, got, err), t.afterRejections()), forced
}

// afterPoll is the adaptive wait: none after a full batch, PollMin after a part of one, then doubling to PollMax. mu is
// held.
func (t *throttle) afterPoll(asked, got int, err error) time.Duration {
	switch {
	case err != nil && got == 0:
		t.idle = min(max(2*t.idle, t.pollMin, time.Second), max(t.pollMax, time.Second))
	case got == asked:
		t.idle = 0
	case got > 0 || t.idle == 0:
		t.idle = t.pollMin
	default:
		t.idle = min(2*t.idle, t.pollMax)
	}
	return jittered(t.idle)
}

// idlest reports whether the waits between polls have grown to PollMax because the queues are empty.
func (t *throttle) idlest() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.idle > 0 && t.idle >= t.pollMax
}

// afterRejections is the wait while all messages are rejected; mu is held.
func (t *throttle) afterRejections() time.Duration {
	switch {
	case t.admitted > 0:
		t.rejecting = 0
	case t.rejected > 0:
		t.rejecting = min(max(2*t.rejecting, t.pollMin), max(t.pollMin, rejectedMost))
	}
	t.admitted, t.rejected = 0, 0
	return t.rejecting
}
