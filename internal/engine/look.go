package engine

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	// usedWithin is how long a queue counts as used after it had a message.
	usedWithin = time.Hour
	// lookOften and lookSeldom are the shares of the looks at a queue that is used, and at one that is not.
	lookOften  = 3
	lookSeldom = 1
)

// looks decides at which queue an idle worker looks: in turn, at a queue that is used three times as often as at one
// that is not. The normal queue counts as used. So it gets at least every second look, every third one when another is
// used; one that is not used gets at least every seventh.
type looks struct {
	used   [3]time.Time // when the queues of high, normal and low last had a message
	shares [3]int
	credit [3]int // smooth weighted round robin: the highest is next
}

// had notes that one of the queues had a message.
func (l *looks) had(q queue.Queue, of Queues) {
	for i, one := range of.inOrder() {
		if one == q {
			l.used[i] = time.Now()
		}
	}
}

// next returns the index of the queue to look at.
func (l *looks) next() int {
	shares := [3]int{lookSeldom, lookOften, lookSeldom}
	for i, at := range l.used {
		if !at.IsZero() && time.Since(at) < usedWithin {
			shares[i] = lookOften
		}
	}
	if shares != l.shares { // credit under other shares would delay a queue for longer than said
		l.shares, l.credit = shares, [3]int{}
	}
	best, total := 0, 0
	for i, share := range shares {
		l.credit[i] += share
		total += share
		if l.credit[i] > l.credit[best] {
			best = i
		}
	}
	l.credit[best] -= total
	return best
}

// inOrder are the queues as looks has them.
func (q Queues) inOrder() [3]queue.Queue { return [3]queue.Queue{q.High, q.Normal, q.Low} }

// look reports whether there may be a message, by one request. It takes none, so the order of the queues is kept: high
// is asked first for the message that normal has. A queue that can't be looked at may have some: a receive tells what
// is wrong, and mends it.
func (p *poller) look(ctx context.Context) (may bool) {
	most := min(receiveTime, p.cfg.Lease/2)
	p.section.within(most)
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	q := p.deps.Queues.inOrder()[p.looks.next()]
	found, err := q.Peek(bounded, 1)
	p.obs.Polled(q.Name(), 0, 0, err)
	return err != nil || len(found) > 0
}
