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
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
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

// Bounds of what is read.
const (
	pageSize = 200 // events
	maxAsked = 500 // jobs in one read
	maxReads = 4   // of listeners that catch up, at a time
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
