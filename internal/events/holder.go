package events

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// errLapsed means that the lease could not be renewed in time.
var errLapsed = errors.New("events: the lease has ended, because the database did not answer")

// holder is a publisher with the lease. Its context ends with the lease, by the local monotonic clock, and with Run's
// after the grace: a publisher that was suspended sends nothing when it wakes.
type holder struct {
	*Publisher
	fence int64
	run   context.Context // Run's
	ctx   context.Context // of what is done under the lease
	stop  context.CancelCauseFunc
	done  sync.WaitGroup
	waits *retry.Waits // for a sink that fails, since it last took an event

	mu    sync.Mutex
	until *time.Timer // ends ctx
}

func (p *Publisher) hold(run context.Context, fence int64, asked time.Time) *holder {
	h := &holder{Publisher: p, fence: fence, run: run, waits: p.cfg.backoff.Waits()}
	h.ctx, h.stop = context.WithCancelCause(context.WithoutCancel(run))
	h.until = time.AfterFunc(time.Until(asked.Add(p.cfg.Lease)), func() { h.stop(errLapsed) })
	h.done.Go(h.renew)
	h.done.Go(func() { // the grace
		select {
		case <-h.ctx.Done():
			return
		case <-run.Done():
		}
		if retry.Sleep(h.ctx, p.cfg.Grace) == nil {
			h.stop(errStopping)
		}
	})
	if p.cfg.Listen != nil {
		h.done.Go(h.listen)
	}
	return h
}

// end gives the lease back, for another worker to take it at once.
func (h *holder) end() {
	lost := h.ctx.Err() != nil && !errors.Is(context.Cause(h.ctx), errStopping)
	h.stop(errStopping)
	h.until.Stop()
	h.done.Wait()
	h.notified.Store(false)
	if lost {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.run), storeCall)
	defer cancel()
	if err := h.cfg.Store.Published(ctx, store.Published{Fence: h.fence}); err != nil {
		h.cfg.Log.Debug("the lease of the publisher ends by itself", "error", err)
	}
}

// extended notes that the lease was extended by a call that began at asked.
func (h *holder) extended(asked time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() == nil {
		h.until.Reset(time.Until(asked.Add(h.cfg.Lease)))
	}
}

// renew extends the lease while the sink is slow or down, or there is nothing to do.
func (h *holder) renew() {
	for retry.Sleep(h.ctx, h.cfg.Lease/3) == nil {
		asked := time.Now()
		ctx, cancel := context.WithTimeout(h.ctx, h.cfg.Lease/3)
		err := h.cfg.Store.Published(ctx, store.Published{Fence: h.fence, Lease: h.cfg.Lease})
		cancel()
		switch {
		case err == nil:
			h.extended(asked)
		case errors.Is(err, store.ErrNotPublisher):
			h.stop(err)
		}
	}
}

// listen has other processes wake the publisher.
func (h *holder) listen() {
	for {
		err := h.cfg.Listen(h.ctx, func() { h.notified.Store(true); h.Wake() })
		h.notified.Store(false)
		if h.ctx.Err() != nil {
			return
		}
		h.Wake()
		h.cfg.Log.Debug("no notifications of events; the database is asked instead", "error", err)
		if retry.Sleep(h.ctx, retry.Jitter(relisten, 0.2)) != nil {
			return
		}
	}
}

// publish publishes until the lease is lost or Run is to end, and then until nothing is left. It returns why it ended.
func (h *holder) publish() error {
	idle, held, failed := h.cfg.poll.Waits(), h.cfg.poll.Waits(), h.cfg.backoff.Waits()
	for h.ctx.Err() == nil {
		page, err := h.page()
		switch {
		case errors.Is(err, store.ErrNotPublisher):
			h.stop(err)
			return err
		case err != nil:
			if h.ctx.Err() == nil {
				h.storeFails(err)
				_ = retry.Sleep(h.ctx, failed.Next())
			}
			continue
		}
		h.storeWorks()
		failed.Reset()
		if page.Next != nil {
			idle.Reset()
			held.Reset()
			if err := h.deliver(page); err != nil {
				return err
			}
			if !page.More && h.run.Err() == nil {
				_ = h.pause(gather)
			}
			continue
		}
		wait := idle.Next()
		if page.Held {
			wait = held.Next()
		} else if h.run.Err() != nil {
			break // nothing is left
		} else if h.notified.Load() {
			wait = notifiedPoll
		}
		if h.wait(wait) {
			idle.Reset()
		}
	}
	return context.Cause(h.ctx) // nil: nothing is left
}

// wait waits for d, or until somebody has written events, or Run is to end. It reports whether somebody has.
func (h *holder) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	ending := h.run.Done()
	if h.run.Err() != nil {
		ending = nil // it is in its grace
	}
	select {
	case <-timer.C:
	case <-h.ctx.Done():
	case <-ending:
	case <-h.woken:
		return true
	}
	return false
}

// page reads what comes next. The lease is not renewed meanwhile. So a database that is too slow for a page is asked for
// less: else each publisher would lose the lease before it has sent anything, for ever.
func (h *holder) page() (store.OutgoingPage, error) {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(h.ctx, storeCall)
	defer cancel()
	page, err := h.cfg.Store.Outgoing(ctx, store.OutgoingQuery{
		Fence: h.fence, Lease: h.cfg.Lease, Limit: h.rows, Bytes: pageBytes, Result: maxResult,
	})
	switch {
	case err == nil:
		h.extended(asked)
		h.rows = min(2*h.rows, pageEvents)
	case !errors.Is(err, store.ErrNotPublisher):
		h.rows = max(h.rows/4, 1)
	}
	return page, err
}

// deliver sends a page, and records what the sink took of it. After a failure it pauses, and leaves the rest to the next
// page: that one has newer events, too, unless the page was full. A sink may take an event for refused only once it
// takes a later one.
func (h *holder) deliver(page store.OutgoingPage) error {
	all, err := h.encode(page.Events)
	if err != nil {
		return err
	}
	if len(all) == 0 { // notes alone
		return h.record(page.Next, Sent{})
	}
	got, err := h.cfg.Sink.Send(h.ctx, all)
	if err != nil && h.ctx.Err() != nil && got.Done == 0 {
		return context.Cause(h.ctx)
	}
	h.sinkTook(got)
	if got.Done > 0 {
		next := page.Next
		if got.Done < len(all) {
			next = &page.Events[got.Done-1].Position
		}
		if err := h.record(next, got); err != nil {
			return err
		}
		h.waits.Reset()
	}
	if err == nil {
		return nil
	}
	wait := max(h.waits.Next(), min(after(err), maxAfter))
	h.sinkFails(err, wait)
	if h.run.Err() != nil {
		return errStopping // the next worker goes on
	}
	return h.pause(wait)
}

// pause waits for d; the end of Run ends it, too.
func (h *holder) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.run.Done():
	case <-h.ctx.Done():
		return context.Cause(h.ctx)
	}
	return nil
}

// record moves the position, and tries for as long as the lease lasts: what is not recorded is sent again.
func (h *holder) record(next *store.OutgoingPosition, s Sent) error {
	policy := retry.Policy{
		Backoff:   retry.Backoff{First: 100 * time.Millisecond, Max: 5 * time.Second, Jitter: 0.25},
		Retryable: func(err error) bool { return !errors.Is(err, store.ErrNotPublisher) && h.ctx.Err() == nil },
		Notify:    func(err error, _ time.Duration) { h.storeFails(err) },
	}
	_, err := retry.Do(h.ctx, policy, func() (struct{}, error) {
		asked := time.Now()
		ctx, cancel := context.WithTimeout(h.ctx, storeCall)
		defer cancel()
		err := h.cfg.Store.Published(ctx, store.Published{
			Fence: h.fence, Lease: h.cfg.Lease, Next: next, Count: s.Done, Refused: len(s.Refused),
		})
		if err == nil {
			h.extended(asked)
		}
		return struct{}{}, err
	})
	if errors.Is(err, store.ErrNotPublisher) {
		h.stop(err)
	}
	return err
}
