package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// flushEvery bounds how often progress is written.
const flushEvery = 500 * time.Millisecond

// keeper is the heartbeat of a task: it extends the leases of message and job, writes progress, and notices cancel
// requests. It has a goroutine from the first time on that it has something to do: short tasks end before.
type keeper struct {
	beat  *beat
	begin *time.Timer // starts the loop
	quit  chan struct{}

	mu      sync.Mutex
	started bool
	over    bool // no loop may start any more
	done    sync.WaitGroup
}

// stop ends the heartbeat and waits for the renewal in flight: without its answer the message's receipt would be
// unknown just when it is needed to settle.
func (k *keeper) stop() {
	k.begin.Stop()
	k.mu.Lock()
	k.over = true
	if !k.started {
		k.beat.section.leave()
	}
	k.mu.Unlock()
	close(k.quit)
	k.done.Wait()
	k.beat.writing <- struct{}{}
	k.beat.stopped = true
	<-k.beat.writing
}

// start starts the loop, unless it runs already or the heartbeat has ended.
func (k *keeper) start(ctx context.Context) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.started || k.over {
		return
	}
	k.started = true
	k.done.Go(func() {
		defer k.beat.section.leave()
		k.beat.loop(ctx, k.quit)
	})
}

// keep starts the heartbeat, which calls end with the cause when the work has to stop.
func (e *Engine) keep(ctx context.Context, end context.CancelCauseFunc, a *attempt) *keeper {
	ctx = context.WithoutCancel(ctx) // a stopping handler still holds its leases
	b := &beat{
		engine: e, attempt: a, end: end, until: a.calledAt.Add(e.cfg.Lease), writing: make(chan struct{}, 1),
		section: e.watchdog.enter("a task's heartbeat"), renewAt: time.Now().Add(jittered(e.cfg.Lease / 3)),
	}
	b.section.within(e.cfg.Lease / 2)
	k := &keeper{beat: b, quit: make(chan struct{})}
	a.journal.save, a.journal.hurry = b.save, func() { k.start(ctx) }
	k.begin = time.AfterFunc(flushEvery, func() { k.start(ctx) }) // a lease is at least 3 s
	return k
}

// beat is the state of one heartbeat.
type beat struct {
	*attempt
	engine *Engine
	end    context.CancelCauseFunc

	// capacity 1: full while the job's lease is renewed, so that events are written in order
	writing chan struct{}
	until   time.Time // end of the job's lease, unless the store answers; monotonic
	stopped bool      // the attempt is being settled: only its outcome is still written
	section *section
	renewAt time.Time // when the leases are renewed for the first time
}

func (b *beat) loop(ctx context.Context, quit <-chan struct{}) {
	lease := b.engine.cfg.Lease
	renew := time.NewTimer(time.Until(b.renewAt))
	defer renew.Stop()
	dirty := b.journal.dirty
	wait := time.Until(b.started.Add(flushEvery))
	flushDue := wait <= 0 // dirty tells of notes that there are already
	if flushDue {
		// No timer of zero: where many goroutines read such ones at the same instant of a synctest bubble, the race
		// detector of Go 1.26 crashes (golang.org/issue/78156).
		wait = flushEvery
	}
	flush := time.NewTimer(wait)
	defer flush.Stop()
	for {
		b.section.within(lease / 2) // jitter included
		select {
		case <-quit:
			return
		case <-renew.C:
			b.section.within(lease / 3)
			b.renewMessage(ctx)
			if b.renewJob(ctx) {
				renew.Reset(jittered(lease / 3))
			} else { // it holds its job as soon as the store is back, before another worker begins it
				renew.Reset(jittered(b.engine.commitPause()))
			}
		case <-flush.C:
			flushDue = true
			if b.journal.rest().empty() {
				continue
			}
			b.renewJob(ctx)
			flushDue = false
			flush.Reset(b.journal.flushDelay())
		case <-dirty:
			if !flushDue {
				continue // the flush timer is running and will see it
			}
			b.renewJob(ctx)
			flushDue = false
			flush.Reset(b.journal.flushDelay())
		case <-b.journal.now:
			b.renewJob(ctx)
			flushDue = false
			flush.Reset(b.journal.flushDelay())
		}
	}
}

// renewMessage extends the message's lease. Losing it does not end the work: the next receiver finds the job leased and
// hides the message again, and the fence decides at the commit.
func (b *beat) renewMessage(ctx context.Context) {
	err := b.bounded(ctx, func(ctx context.Context) error { return b.msg.Lease.Extend(ctx, b.engine.cfg.Lease) })
	result := "ok"
	switch {
	case errors.Is(err, queue.ErrLeaseLost):
		result = "lost"
		b.log.Warn("the message's lease is lost; the work continues, because the job's lease decides")
	case errors.Is(err, queue.ErrUncertain):
		result = "uncertain"
		b.log.Warn("the message's lease may be lost: its renewal was not answered", "error", err)
	case err != nil:
		result = "failed"
		b.log.Warn("can't renew the message's lease; retrying", "error", err)
	}
	b.engine.obs.Renewed("message", result)
}

// renewJob extends the job's lease and writes progress, and reports whether it did. The next renewal writes what this
// one could not.
func (b *beat) renewJob(ctx context.Context) bool {
	b.section.within(2 * b.engine.cfg.Lease / 3) // the handler may be writing a checkpoint
	err := b.write(ctx)
	if err != nil {
		b.log.Warn("can't renew the job's lease", "error", err)
	}
	return err == nil
}

// write renews the job's lease once, and acts on the answer. An error is transient, or ErrFenced: the attempt is being
// settled.
func (b *beat) write(ctx context.Context) error {
	b.writing <- struct{}{}
	defer func() { <-b.writing }()
	if b.stopped {
		return store.ErrFenced // for a goroutine that outlived its handler
	}
	asked := time.Now()
	taken := b.journal.take()
	var pulse store.HeartbeatAnswer
	over := b.engine.outages.call()
	err := b.bounded(ctx, func(ctx context.Context) (err error) {
		pulse, err = b.engine.deps.Store.Heartbeat(ctx, store.Heartbeat{
			Holder: b.holder, Lease: b.engine.cfg.Lease, Events: taken.all(), Checkpoint: taken.checkpoint,
		})
		return err
	})
	over(err != nil && !errors.Is(err, store.ErrFenced), false)
	switch {
	case err == nil:
		b.until = asked.Add(b.engine.cfg.Lease)
		b.engine.obs.Renewed("job", "ok")
		if pulse.Deliveries > 0 {
			b.engine.deps.Outbox()
		}
		if pulse.Cancel {
			b.end(ErrCanceled)
		}
		return nil
	case errors.Is(err, store.ErrFenced):
		b.engine.obs.Renewed("job", "lost")
		b.end(ErrLeaseLost)
		return nil
	}
	b.journal.untake(taken)
	b.engine.obs.Renewed("job", "failed")
	// While this worker holds the message no other one begins the job, and the fence handles duplicates: an outage of
	// the store alone does not end work.
	if now := time.Now(); now.After(b.until) && now.After(b.msg.Lease.Deadline()) {
		b.end(ErrLeaseLost)
	}
	return err
}

// save is Progress.Save.
func (b *beat) save(ctx context.Context) error {
	p := retry.Policy{
		Backoff: retry.Backoff{
			First: 200 * time.Millisecond, Max: 5 * time.Second, Jitter: 0.1,
		}, Time: b.engine.cfg.Lease,
		Retryable: func(err error) bool { return !errors.Is(err, store.ErrFenced) && b.journal.ctx.Err() == nil },
		Notify: func(err error, wait time.Duration) {
			b.log.Warn("can't write a checkpoint; retrying", "error", err, "in", wait)
		},
	}
	_, err := retry.Do(ctx, p, func() (struct{}, error) { return struct{}{}, b.write(context.WithoutCancel(ctx)) })
	switch {
	case b.journal.ctx.Err() != nil:
		return context.Cause(b.journal.ctx)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

// bounded gives one renewal at most a third of the lease.
func (b *beat) bounded(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, b.engine.cfg.Lease/3)
	defer cancel()
	return f(ctx)
}
