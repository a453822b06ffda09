package engine

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/queue"
)

// receiveTime bounds one receive. A shutdown does not end it: a receive whose answer is discarded hides its messages
// for a whole lease.
const receiveTime = 15 * time.Second

// poller receives messages into free slots. Only pollLoop's goroutine uses it.
type poller struct {
	*Engine
	priority scheduler
	section  *section
	looks    looks
	failed   bool // the last fill had an error
	backlog  bool // the last fill found a message for each free slot, so there are probably more
}

// pollLoop receives until ctx is done, see poller.fill for the order of the queues.
func (e *Engine) pollLoop(ctx context.Context) {
	p := &poller{
		Engine: e, priority: scheduler{asked: time.Now()},
		section: e.watchdog.enter("the poll loop"),
	}
	defer p.section.leave()
	for woken := true; ; {
		hang()
		p.follow()
		free := p.slots.take(ctx, p.throttle.batch(), p.enough(), collectTime, p.section)
		if free == 0 {
			return
		}
		got, err := p.poll(ctx, free, woken)
		p.slots.giveUnused(free - got)
		p.backlog = got == free
		idle, forced := p.throttle.waits(free, got, err)
		until := time.Now().Add(forced)
		p.section.within(max(idle, forced))
		woken = p.rest(ctx, idle)
		if retry.Sleep(ctx, time.Until(until)) != nil {
			return
		}
	}
}

// poll receives into free slots. When the queues have been empty for so long that polls are PollMax apart, and each
// request is paid for, it first looks at one queue only; Wake makes it ask all at once.
func (p *poller) poll(ctx context.Context, free int, woken bool) (got int, err error) {
	if p.deps.Billed && !woken && !p.failed && p.throttle.idlest() && !p.woken() && !p.look(ctx) {
		return 0, nil
	}
	got, err = p.fill(ctx, free)
	p.failed = err != nil
	return got, err
}

// receive receives up to n messages and starts them. It returns those that it started.
func (p *poller) receive(ctx context.Context, q queue.Queue, n int) ([]*queue.Message, error) {
	most := min(receiveTime, p.cfg.Lease/2)
	p.section.within(most)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	msgs, err := q.Receive(bounded, n, p.cfg.Lease)
	p.obs.Polled(q.Name(), n, len(msgs), err)
	p.queueTroubles.received(q.Name(), err)
	if errors.Is(err, queue.ErrNotFound) { // it was deleted
		if err := q.Ensure(bounded); err != nil {
			p.log.Error("can't create the queue", "queue", q.Name(), "error", err, "hint",
				"check that the worker may create queues; async-worker doctor tries it")
		}
	}
	if len(msgs) > 0 {
		p.looks.had(q, p.deps.Queues)
	}
	for i, m := range msgs {
		if ctx.Err() != nil { // shutdown: release at once what is not started
			p.section.within(settleTime)
			p.releaseUnstarted(ctx, q, msgs[i:])
			return msgs[:i], err
		}
		ended := p.priority.started(q == p.deps.Queues.Normal)
		p.slots.begun()
		p.running.Add(1)
		p.crew.run(func() {
			defer p.running.Done()
			defer p.slots.give(1)
			defer ended()
			p.handle(p.tasks, q, m)
		})
	}
	return msgs, err
}

func (e *Engine) releaseUnstarted(ctx context.Context, q queue.Queue, msgs []*queue.Message) {
	ctx, cancel := settling(ctx)
	defer cancel()
	for _, m := range msgs {
		if err := m.Lease.Release(ctx, 0); err != nil {
			e.log.Warn("can't release a message; it comes back when its lease ends", "queue", q.Name(),
				"queue_message_id", m.ID, "error", err)
		}
	}
}

// collectTime is how long freed slots are collected before the next receive, from the first one on. It bounds what a
// slot beside long tasks loses, and is less than a receive from a remote queue takes.
const collectTime = 20 * time.Millisecond

// enough is how many slots must be free for a receive while there is a backlog: a quarter of them, or those that became
// free within collectTime. Short tasks end one by one, and each would cost a receive. Without a backlog one free slot
// is enough.
func (p *poller) enough() int {
	if !p.backlog {
		return 1
	}
	return max(1, p.tuning().Concurrency/4)
}

// rest waits between polls until Wake is called or ctx is done; it reports whether Wake was called.
func (e *Engine) rest(ctx context.Context, wait time.Duration) (woken bool) {
	if wait <= 0 {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.wake:
		return true
	case <-ctx.Done():
	}
	return false
}

// woken reports whether Wake was called since the last call of woken.
func (e *Engine) woken() bool {
	select {
	case <-e.wake:
		return true
	default:
		return false
	}
}
