package feed

import (
	"context"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A listener's unread events are bounded by number and by size.
const (
	maxUnread      = 256
	maxUnreadBytes = 1 << 20
)

// Event is an event of a job. Listeners share it.
type Event struct {
	store.FeedEvent
	once   sync.Once
	text   []byte
	cursor string
}

// Encoded returns what encode makes of the event, which is called once for all listeners, and the cursor after it.
func (e *Event) Encoded(encode func(store.FeedEvent) []byte) (text []byte, cursor string) {
	e.once.Do(func() { e.text, e.cursor = encode(e.FeedEvent), Cursor(e.Position()) })
	return e.text, e.cursor
}

// size is about how many bytes the event takes.
func (e *Event) size() int {
	return 200 + len(e.ID) + len(e.JobID) + len(e.Stage) + 2*(len(e.Message)+len(e.Metadata)) // and its encoding
}

// Listener gets events, by Next, from one goroutine. The caller must call Close.
type Listener struct {
	feed     *Feed
	job      string // empty: all jobs
	position store.FeedPosition
	joined   store.FeedPosition // a follower's first event from the feed comes after it
	live     bool               // it gets its events from the feed
	caughtUp bool

	ready chan struct{} // capacity 1
	mu    sync.Mutex
	queue []*Event
	bytes int
	err   error
}

// Follow listens to all jobs, after a position; the zero position is the stream's end at the first Next.
func (f *Feed) Follow(after store.FeedPosition) *Listener {
	return &Listener{feed: f, position: after, ready: make(chan struct{}, 1)}
}

// Watch listens to one job, after the event with a number; 0: from its first.
func (f *Feed) Watch(jobID string, after int64) *Listener {
	return &Listener{
		feed: f, job: jobID, position: store.FeedPosition{JobID: jobID, Seq: after}, ready: make(chan struct{}, 1),
	}
}

// Position is that of the last event that Next returned, or after it.
func (l *Listener) Position() store.FeedPosition { return l.position }

// CaughtUp reports whether Next has returned all events that there were when the listener began.
func (l *Listener) CaughtUp() bool { return l.caughtUp }

// Next returns the next events, in order. Once it has caught up, it waits until there is one; before that it may return
// none. After an error the listener is of no use, except after ErrReset.
func (l *Listener) Next(ctx context.Context) ([]*Event, error) {
	if !l.caughtUp {
		return l.catchUp(ctx)
	}
	for {
		events, err := l.take()
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close ends the listener.
func (l *Listener) Close() {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	l.feed.removeLocked(l)
}

// catchUp reads what was written before: until near the stream's end, then joins the others, then the rest.
func (l *Listener) catchUp(ctx context.Context) ([]*Event, error) {
	events, more, err := l.page(ctx)
	if err != nil {
		return nil, err
	}
	if !more && !l.live {
		if err := l.join(); err != nil {
			return nil, err
		}
	}
	l.caughtUp = l.live && !more && l.position.Compare(l.joined) >= 0
	return events, nil
}

// page reads a page for this listener alone.
func (l *Listener) page(ctx context.Context) (events []*Event, more bool, err error) {
	q := store.FeedQuery{Limit: pageSize, Keep: l.feed.cfg.Keep}
	if l.job != "" {
		q.Jobs = []store.JobPosition{{JobID: l.job, Seq: l.position.Seq}}
	} else {
		after := l.position
		q.After = &after
	}
	select {
	case l.feed.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	page, err := l.feed.cfg.Store.Feed(ctx, q)
	<-l.feed.reads
	if err != nil {
		return nil, false, err
	}
	found := page.Events
	if l.job != "" {
		found, more = page.JobEvents, len(page.JobEvents) == pageSize
		if n := len(found); n > 0 {
			l.position.Seq = found[n-1].Seq
		}
	} else {
		l.position, more = page.Next, page.More
	}
	if page.Reset {
		return nil, false, ErrReset
	}
	for _, e := range found {
		events = append(events, &Event{FeedEvent: e})
	}
	return events, more, nil
}

// join makes the feed serve the listener from here on.
func (l *Listener) join() error {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	l.live = true
	if l.job == "" {
		if len(f.followers) == 0 {
			f.position = l.position
		}
		l.joined = f.position
		f.followers[l] = true
	} else {
		t := f.jobs[l.job]
		if t == nil {
			t = &topic{seq: l.position.Seq, listeners: map[*Listener]bool{}}
			f.jobs[l.job] = t
		}
		l.joined = store.FeedPosition{JobID: l.job, Seq: t.seq}
		t.listeners[l] = true
		f.dirty[l.job] = true
	}
	f.startLocked()
	f.wake()
	return nil
}

// removeLocked ends a listener's service. The caller holds the feed's mutex.
func (f *Feed) removeLocked(l *Listener) {
	delete(f.followers, l)
	if t := f.jobs[l.job]; t != nil {
		if delete(t.listeners, l); len(t.listeners) == 0 {
			delete(f.jobs, l.job)
		}
	}
	f.stopLocked()
}

// give adds an event, and reports whether the listener keeps up.
func (l *Listener) give(e *Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += e.size()
	if len(l.queue) == maxUnread || l.bytes > maxUnreadBytes && len(l.queue) > 0 {
		l.failLocked(ErrSlow)
		return false
	}
	l.queue = append(l.queue, e)
	l.signal()
	return true
}

func (l *Listener) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failLocked(err)
}

func (l *Listener) failLocked(err error) {
	l.queue, l.bytes, l.err = nil, 0, err
	l.signal()
}

func (l *Listener) signal() {
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// take removes the unread events, and leaves out those that were returned while the listener caught up.
func (l *Listener) take() ([]*Event, error) {
	l.mu.Lock()
	queue, err := l.queue, l.err
	l.queue, l.bytes = nil, 0
	l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var events []*Event
	for _, e := range queue {
		at := e.Position()
		if l.job != "" {
			at = store.FeedPosition{JobID: l.job, Seq: e.Seq}
		}
		if at.Compare(l.position) > 0 {
			events, l.position = append(events, e), at
		}
	}
	return events, nil
}
