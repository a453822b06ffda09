package engine

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// receiveTime bounds one receive. It is not ended by a shutdown: a receive whose answer is thrown
// away hides its messages for a whole lease.
const receiveTime = 15 * time.Second

// pollLoop receives until ctx is done. High is served before normal, normal before low; low only
// while the others are empty.
func (e *Engine) pollLoop(ctx context.Context) {
	pace := pace{least: e.cfg.PollMin, most: e.cfg.PollMax}
	for {
		free := e.slots.take(ctx, queue.MaxBatch)
		if free == 0 {
			return
		}
		got, err := e.fill(ctx, free)
		e.slots.give(free - got)
		if !e.rest(ctx, max(pace.next(free, got, err), e.store.now(), e.door.now())) {
			return
		}
	}
}

// fill receives into free slots, by priority, and starts what came. It returns how many slots are
// taken now.
func (e *Engine) fill(ctx context.Context, free int) (got int, err error) {
	for _, q := range []queue.Queue{e.deps.Queues.High, e.deps.Queues.Normal, e.deps.Queues.Low} {
		if got == free || (q == e.deps.Queues.Low && got > 0) || ctx.Err() != nil {
			break
		}
		n, failed := e.receive(ctx, q, free-got)
		got += n
		err = errors.Join(err, failed) // one queue that is out of order doesn't keep the others waiting
	}
	return got, err
}

func (e *Engine) receive(ctx context.Context, q queue.Queue, n int) (int, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(receiveTime, e.cfg.Lease/2))
	defer cancel()
	msgs, err := q.Receive(bounded, n, e.cfg.Lease)
	e.obs.Polled(q.Name(), n, len(msgs), err)
	e.inlets.received(q.Name(), err)
	if errors.Is(err, queue.ErrNotFound) { // somebody deleted it
		if err := q.Ensure(bounded); err != nil {
			e.log.Error("can't create the queue", "queue", q.Name(), "error", err)
		}
	}
	for i, m := range msgs {
		if ctx.Err() != nil { // shutdown: what is not started goes back at once
			e.releaseUnstarted(ctx, q, msgs[i:])
			return i, err
		}
		e.running.Go(func() {
			defer e.slots.give(1)
			e.handle(e.tasks, q, m)
		})
	}
	return len(msgs), err
}

func (e *Engine) releaseUnstarted(ctx context.Context, q queue.Queue, msgs []*queue.Message) {
	ctx, cancel := settling(ctx)
	defer cancel()
	for _, m := range msgs {
		if err := m.Lease.Release(ctx, 0); err != nil {
			e.log.Warn("can't release a message; it comes back when its lease ends", "queue", q.Name(), "message_id", m.ID, "error", err)
		}
	}
}

// rest waits between polls; it returns false when ctx is done.
func (e *Engine) rest(ctx context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.wake:
	case <-ctx.Done():
		return false
	}
	return true
}

// pace is the adaptive wait between polls: none after a full batch, the least after a part batch,
// then doubling with jitter to the most.
type pace struct {
	least, most time.Duration
	wait        time.Duration
}

func (p *pace) next(free, got int, err error) time.Duration {
	switch {
	case err != nil && got == 0:
		p.wait = min(max(2*p.wait, p.least, time.Second), max(p.most, time.Second))
	case got == free:
		p.wait = 0
		return 0
	case got > 0 || p.wait == 0:
		p.wait = p.least
	default:
		p.wait = min(2*p.wait, p.most)
	}
	return jittered(p.wait)
}
