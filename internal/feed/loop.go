package feed

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Waits between two reads of the database.
const (
	gap         = 40 * time.Millisecond // after any read, see pause
	gapMax      = time.Second
	giving      = 25 * time.Microsecond // about what it takes to write events to one listener
	restFor     = 10                    // how many times as long as it works the feed rests
	pollFirst   = 200 * time.Millisecond
	pollMax     = 2 * time.Second
	pollBackup  = 15 * time.Second // while notifications arrive
	relisten    = 10 * time.Second
	heldFirst   = 10 * time.Millisecond // while events wait for an open transaction
	maxFailures = 10                    // retryable errors in a row
)

// listen receives notifications. While they arrive, the database is asked rarely.
func (f *Feed) listen(ctx context.Context) {
	for {
		err := f.cfg.Listen(ctx, func(marks []string) {
			f.setNotified(ctx, true)
			f.heard(marks)
		})
		if ctx.Err() != nil {
			return
		}
		f.setNotified(ctx, false)
		f.Written()
		f.cfg.Log.Info("no notifications of events; the database is asked instead", "error", err)
		if retry.Sleep(ctx, retry.Jitter(relisten, 0.2)) != nil {
			return
		}
	}
}

func (f *Feed) setNotified(ctx context.Context, to bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil { // else it belongs to an earlier loop
		f.notified = to
	}
}

// loop reads for all listeners until ctx ends.
func (f *Feed) loop(ctx context.Context) {
	w := waits{poll: pollFirst, held: heldFirst}
	failures := 0
	timer := time.NewTimer(w.poll)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.woken:
		case <-timer.C:
			f.mu.Lock()
			f.all = true
			f.mu.Unlock()
		}
		began := time.Now()
		got, err := f.read(ctx)
		rest := pause(time.Since(began), got.given)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failures++; !retryable(err) || failures > maxFailures {
				f.drop(ctx, err)
				return
			}
			got = outcome{}
		default:
			failures = 0
		}
		if retry.Sleep(ctx, rest) != nil {
			return
		}
		timer.Reset(f.next(got, &w))
	}
}

// pause returns how long to rest after a read that took so long and gave events to so many listeners. While events come
// all the time, more come with each read then, so reads and writes take a tenth of the time, however slow the database
// and however many the listeners.
func pause(read time.Duration, listeners int) time.Duration {
	return min(max(gap, restFor*(read+time.Duration(listeners)*giving)), gapMax)
}

// waits are the last waits, which grow while there is nothing to read.
type waits struct{ poll, held time.Duration }

// next returns how long to wait for a notification.
func (f *Feed) next(got outcome, w *waits) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if got.more {
		f.wake()
	}
	if got.events > 0 || got.more {
		w.poll = pollFirst
	} else {
		w.poll = min(2*w.poll, pollMax)
	}
	if got.held {
		w.held = min(2*w.held, pollMax)
		return w.held
	}
	w.held = heldFirst
	if f.notified {
		return pollBackup
	}
	return w.poll
}

func retryable(err error) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	return ok && taskerr.Classes[e.Class].Retryable
}
