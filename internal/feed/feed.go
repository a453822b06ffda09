// Package feed gives listeners the events of a tenant's jobs as they are written: of all jobs in one order, or of single
// jobs. A process reads the database once for all its listeners, and only while there are some. It reads when the process
// itself has written events, when another one notifies it (LISTEN, on a direct connection), and from time to time.
//
// A listener keeps a bounded number of unread events. One that falls behind is let go with ErrSlow, and can go on from
// its position; no writer ever waits for a listener.
package feed

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var (
	// ErrReset means that the stream can't go on from a position: it is too old, or of another database. The listener
	// goes on at the stream's end, Listener.Position.
	ErrReset = errors.New("the position is too old or unknown; events may be missing")
	// ErrSlow means that a listener had too many unread events and was let go.
	ErrSlow = errors.New("the listener did not read its events in time")
	// ErrClosed means that the feed was closed.
	ErrClosed = errors.New("closed")
)

// Config configures a Feed.
type Config struct {
	Store store.Feeds // required
	// Listen calls woken with the marks of the jobs that another process has written events of (none: any job), and once
	// when it is ready, until ctx ends or an error. Nil: there are no notifications, and the database is asked more often.
	Listen func(ctx context.Context, woken func(marks []string)) error
	// Keep is how old a position may be: no longer than events are kept. Zero: any age.
	Keep time.Duration
	Log  *slog.Logger // nil: none
}

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
	pageSize    = 200                   // events
	maxAsked    = 500                   // jobs in one read
	maxReads    = 4                     // of listeners that catch up, at a time
)

// Feed serves the listeners of one tenant in this process.
type Feed struct {
	cfg   Config
	woken chan struct{} // capacity 1
	reads chan struct{} // has an element for each read of a listener that catches up
	done  sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	stop      context.CancelFunc // of the loop; nil: there are no listeners
	followers map[*Listener]bool
	position  store.FeedPosition // of the followers; zero: there are none
	jobs      map[string]*topic
	dirty     map[string]bool // watched jobs with new events
	all       bool            // any job may have new events
	notified  bool            // notifications arrive
}

// topic is a watched job.
type topic struct {
	seq       int64 // of the last event that was read
	listeners map[*Listener]bool
}

// New returns a Feed. It does nothing until there is a listener.
func New(cfg Config) *Feed {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Feed{
		cfg: cfg, woken: make(chan struct{}, 1), reads: make(chan struct{}, maxReads),
		followers: map[*Listener]bool{}, jobs: map[string]*topic{}, dirty: map[string]bool{},
	}
}

// Close lets all listeners go, and waits until nothing runs.
func (f *Feed) Close() {
	f.mu.Lock()
	f.closed = true
	f.dropLocked(ErrClosed)
	f.mu.Unlock()
	f.done.Wait()
}

// Keep is how old a position may be; zero: any age.
func (f *Feed) Keep() time.Duration { return f.cfg.Keep }

// Listeners returns how many listeners there are.
func (f *Feed) Listeners() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.followers)
	for _, t := range f.jobs {
		n += len(t.listeners)
	}
	return n
}

// Written reports that jobs have new events; no ids: any job. It does not block.
func (f *Feed) Written(jobIDs ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		return
	}
	f.all = f.all || len(jobIDs) == 0
	wanted := f.all || len(f.followers) > 0
	for _, id := range jobIDs {
		if f.jobs[id] != nil {
			f.dirty[id], wanted = true, true
		}
	}
	if wanted {
		f.wake()
	}
}

func (f *Feed) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// startLocked runs the loop. The first listener starts it, and the last one ends it.
func (f *Feed) startLocked() {
	if f.stop != nil || f.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	f.done.Go(func() { f.loop(ctx) })
	if f.cfg.Listen != nil {
		f.done.Go(func() { f.listen(ctx) })
	}
}

func (f *Feed) stopLocked() {
	if f.stop == nil || len(f.followers)+len(f.jobs) > 0 {
		return
	}
	f.stop()
	f.stop, f.position, f.all, f.notified = nil, store.FeedPosition{}, false, false
	clear(f.dirty)
}

// dropLocked lets all listeners go.
func (f *Feed) dropLocked(err error) {
	for l := range f.followers {
		l.fail(err)
	}
	for _, t := range f.jobs {
		for l := range t.listeners {
			l.fail(err)
		}
	}
	clear(f.followers)
	clear(f.jobs)
	f.stopLocked()
}

// drop lets all listeners of a loop go.
func (f *Feed) drop(loop context.Context, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if loop.Err() == nil { // else they belong to a later one
		f.dropLocked(err)
	}
}

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

// outcome is what a read found.
type outcome struct {
	events     int
	given      int // listeners that got some, about
	more, held bool
}

// read reads once for all listeners, and hands out what it found.
func (f *Feed) read(ctx context.Context) (outcome, error) {
	q := f.query()
	if q.After == nil && len(q.Jobs) == 0 {
		return outcome{}, nil
	}
	page, err := f.cfg.Store.Feed(ctx, q)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.all = true // it was not read
		return outcome{}, err
	}
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	got := outcome{events: len(page.Events) + len(page.JobEvents), more: len(page.JobEvents) == pageSize}
	if got.more {
		for _, j := range q.Jobs {
			f.dirty[j.JobID] = true
		}
	}
	if q.After != nil && *q.After == f.position { // else its followers are gone
		got.held, got.more = page.Held, got.more || page.More
		f.position = page.Next
		for _, e := range page.Events {
			f.handOutLocked(&Event{FeedEvent: e}, true)
		}
	}
	asked := map[string]int64{}
	for _, j := range q.Jobs {
		asked[j.JobID] = j.Seq
	}
	for _, e := range page.JobEvents {
		if t := f.jobs[e.JobID]; t != nil && t.seq == asked[e.JobID] && e.Seq > t.seq+1 {
			t.seq = e.Seq - 1 // those between have expired: a job's events are read in order
		}
		asked[e.JobID] = e.Seq
		f.handOutLocked(&Event{FeedEvent: e}, false)
	}
	got.given = len(page.JobEvents)
	if len(page.Events) > 0 {
		got.given += len(f.followers)
	}
	got.more = got.more || len(f.dirty) > 0
	return got, nil
}

// query is what to read next.
func (f *Feed) query() store.FeedQuery {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := store.FeedQuery{Limit: pageSize}
	if f.all {
		for id := range f.jobs {
			f.dirty[id] = true
		}
		f.all = false
	}
	for id := range maps.Keys(f.dirty) {
		if len(q.Jobs) == maxAsked {
			break
		}
		delete(f.dirty, id)
		if t := f.jobs[id]; t != nil {
			q.Jobs = append(q.Jobs, store.JobPosition{JobID: id, Seq: t.seq})
		}
	}
	if len(f.followers) > 0 {
		after := f.position
		q.After = &after
	}
	return q
}

// handOutLocked gives an event to those who listen to its job, and, if it comes from the stream, to the followers.
func (f *Feed) handOutLocked(e *Event, stream bool) {
	if t := f.jobs[e.JobID]; t != nil && e.Seq == t.seq+1 { // else it was handed out, or others come first
		t.seq = e.Seq
		for l := range t.listeners {
			f.giveLocked(l, e)
		}
	}
	if stream {
		for l := range f.followers {
			f.giveLocked(l, e)
		}
	}
}

func (f *Feed) giveLocked(l *Listener, e *Event) {
	if !l.give(e) {
		f.removeLocked(l)
	}
}

func retryable(err error) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	return ok && taskerr.Classes[e.Class].Retryable
}
