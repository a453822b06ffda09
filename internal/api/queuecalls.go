package api

import (
	"context"
	"sync/atomic"
	"time"
)

// DefaultQueueWait is how long a request waits for a queue.
const DefaultQueueWait = 2 * time.Second

// queueCalls are calls of queues. A request waits for one only for a moment; what takes longer goes on without it. So a
// queue that hangs neither holds the places of the server, nor makes requests pass its time limit.
type queueCalls struct {
	ctx  context.Context //nolint:containedctx // that of the API
	wait time.Duration
	room chan struct{} // has an element for each call that is under way
	slow atomic.Bool   // the last one took longer than wait: until one does not, nobody waits
}

func newQueueCalls(ctx context.Context, most int, wait time.Duration) *queueCalls {
	return &queueCalls{ctx: ctx, wait: wait, room: make(chan struct{}, most)}
}

// do makes a call, which is given up after limit. It reports whether there was room for it.
func (q *queueCalls) do(ctx context.Context, limit time.Duration, call func(context.Context)) bool {
	wait := q.wait
	if q.slow.Load() {
		wait = 0
	}
	moment := time.NewTimer(wait)
	defer moment.Stop()
	select {
	case q.room <- struct{}{}:
	default:
		select {
		case q.room <- struct{}{}:
		case <-moment.C:
			return false
		}
	}
	over := make(chan struct{})
	go func() {
		defer func() { <-q.room }()
		defer close(over)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		defer context.AfterFunc(q.ctx, cancel)()
		begin := time.Now()
		call(ctx)
		q.slow.Store(time.Since(begin) >= q.wait)
	}()
	if wait == 0 {
		return true
	}
	select {
	case <-over:
	case <-moment.C:
		q.slow.Store(true)
	}
	return true
}

// end waits for the calls that are under way, after the end of their context. There is no room for others then.
func (q *queueCalls) end() {
	for range cap(q.room) {
		q.room <- struct{}{}
	}
}

// Close ends what goes on without a request. No request may come any more.
func (a *API) Close() {
	a.end()
	a.depth.looks.end()
	a.sends.end()
	a.copies.end()
}
