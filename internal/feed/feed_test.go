package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// counted is a store of events that counts the reads, and fails them on request.
type counted struct {
	store.Feeds
	mu    sync.Mutex
	reads int
	asked int // jobs in the last read
	fail  error
}

func (c *counted) Feed(ctx context.Context, q store.FeedQuery) (store.FeedPage, error) {
	c.mu.Lock()
	c.reads++
	c.asked = len(q.Jobs)
	err := c.fail
	c.mu.Unlock()
	if err != nil {
		return store.FeedPage{}, err
	}
	return c.Feeds.Feed(ctx, q)
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.reads
	c.reads = 0
	return n
}

func (c *counted) set(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail = err
}

// rig is a feed over the model of jobs, in virtual time.
type rig struct {
	*testing.T
	jobs  *memory.Jobs
	reads *counted
	feed  *feed.Feed
}

func newRig(t *testing.T, edit ...func(*feed.Config)) *rig {
	r := &rig{T: t, jobs: memory.New()}
	r.reads = &counted{Feeds: memory.Reader{Store: r.jobs, ClientID: "a"}}
	cfg := feed.Config{Store: r.reads, Log: slog.New(slog.DiscardHandler)}
	for _, e := range edit {
		e(&cfg)
	}
	r.feed = feed.New(cfg)
	t.Cleanup(r.feed.Close)
	return r
}

func (r *rig) begin(id string) store.Holder {
	r.Helper()
	b, err := r.jobs.Begin(r.Context(), store.Begin{
		Task: store.Task{JobID: id, Fingerprint: "f", MaxAttempts: 1}, Lease: time.Hour, ID: uuid.NewString(),
	})
	if err != nil {
		r.Fatal(err)
	}
	return store.Holder{JobID: id, Fence: b.Fence}
}

func (r *rig) report(h store.Holder, messages ...string) {
	r.Helper()
	var events []store.Event
	for _, m := range messages {
		events = append(events, store.Event{ID: uuid.NewString(), At: time.Now(), Stage: "s", Message: m})
	}
	if _, err := r.jobs.Heartbeat(r.Context(), store.Heartbeat{Holder: h, Lease: time.Hour, Events: events}); err != nil {
		r.Fatal(err)
	}
}

// read collects what a listener gets until an event whose message is last.
func read(ctx context.Context, l *feed.Listener, last string) (messages []string, err error) {
	for {
		events, err := l.Next(ctx)
		if err != nil {
			return messages, err
		}
		for _, e := range events {
			if messages = append(messages, e.Message); e.Message == last {
				return messages, nil
			}
		}
	}
}

func (r *rig) want(l *feed.Listener, want ...string) {
	r.Helper()
	got, err := read(r.Context(), l, want[len(want)-1])
	if err != nil || strings.Join(got, ",") != strings.Join(want, ",") {
		r.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// Without a listener nothing is read; with many, one read serves them all.
func TestReadsOnlyForListeners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := r.begin("j")
		time.Sleep(time.Hour)
		if n := r.reads.count(); n != 0 {
			t.Errorf("%d reads without a listener", n)
		}
		var all []*feed.Listener
		for range 50 {
			all = append(all, r.feed.Follow(store.FeedPosition{}), r.feed.Watch("j", 1))
		}
		for _, l := range all {
			for !l.CaughtUp() {
				if _, err := l.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.reads.count()
		r.report(h, "one", "two")
		for _, l := range all {
			r.want(l, "one", "two")
		}
		if n := r.reads.count(); n > 2 {
			t.Errorf("%d reads for %d listeners", n, len(all))
		}
		time.Sleep(time.Minute)
		if n := r.reads.count(); n < 25 || n > 60 {
			t.Errorf("%d reads in a minute without events and notifications, want about 30", n)
		}
		for _, l := range all {
			l.Close()
		}
		synctest.Wait()
		r.reads.count()
		time.Sleep(time.Hour)
		if n := r.reads.count(); n != 0 {
			t.Errorf("%d reads after the last listener left", n)
		}
	})
}

// An event that the process has written itself arrives at once, and so does one that it is notified of by the mark of
// its job, see aw_wake.
func TestWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		woken := make(chan func([]string), 1)
		r := newRig(t, func(c *feed.Config) {
			c.Listen = func(ctx context.Context, notify func([]string)) error {
				notify(nil)
				woken <- notify
				<-ctx.Done()
				return ctx.Err()
			}
		})
		h := r.begin("j")
		l, w := r.feed.Follow(store.FeedPosition{}), r.feed.Watch("j", 1)
		defer l.Close()
		defer w.Close()
		for !l.CaughtUp() || !w.CaughtUp() {
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		notify := <-woken
		time.Sleep(time.Minute)
		r.reads.count()
		time.Sleep(time.Minute)
		if n := r.reads.count(); n > 5 {
			t.Errorf("%d reads in a minute while notifications arrive", n)
		}
		for i, wake := range []func(){
			func() { r.feed.Written("j") }, func() { notify([]string{"18"}) }, func() { notify(nil) },
			func() { time.Sleep(16 * time.Second) }, // not notified: found nevertheless
		} {
			message := fmt.Sprint(i)
			r.report(h, message)
			before := time.Now()
			wake()
			if i == 3 {
				before = time.Now()
			}
			r.want(l, message)
			r.want(w, message)
			if took := time.Since(before); took > 100*time.Millisecond {
				t.Errorf("%d: it took %v", i, took)
			}
		}
	})
}

// Errors that may pass are borne for a while; others end the listeners, and a new one starts again.
func TestErrors(t *testing.T) {
	t.Parallel()
	trouble := taskerr.Errorf(taskerr.TransientStorage, "connection refused")
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			err   error
			lasts time.Duration
			want  error
		}{{trouble, 5 * time.Second, nil}, {trouble, time.Hour, trouble}, {store.ErrForbidden, time.Minute, store.ErrForbidden}} {
			r := newRig(t)
			h := r.begin("j")
			l := r.feed.Watch("j", 1)
			for !l.CaughtUp() {
				if _, err := l.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			r.reads.set(c.err)
			time.Sleep(c.lasts)
			r.reads.set(nil)
			r.report(h, "after")
			if _, err := read(t.Context(), l, "after"); !errors.Is(err, c.want) {
				t.Errorf("%v for %v: %v", c.err, c.lasts, err)
			}
			l.Close()
			fresh := r.feed.Watch("j", 1)
			r.want(fresh, "after")
			fresh.Close()
			r.feed.Close()
			if _, err := r.feed.Follow(store.FeedPosition{}).Next(t.Context()); !errors.Is(err, feed.ErrClosed) {
				t.Errorf("closed: %v", err)
			}
		}
	})
}

// A position that is too old is reported, once, and the listener goes on at the end.
func TestReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *feed.Config) { c.Keep = time.Hour })
		h := r.begin("j")
		first := r.feed.Follow(store.FeedPosition{})
		if _, err := first.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		old := first.Position()
		first.Close()
		r.report(h, "missed")
		time.Sleep(2 * time.Hour)
		l := r.feed.Follow(old)
		defer l.Close()
		if events, err := l.Next(t.Context()); !errors.Is(err, feed.ErrReset) || len(events) > 0 {
			t.Errorf("%v, %v", events, err)
		}
		for !l.CaughtUp() {
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.report(h, "new")
		r.want(l, "new")
	})
}

func TestCursor(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 1, 2, 3, 4e6, time.UTC)
	for _, p := range []store.FeedPosition{
		{Tx: 1, At: at}, {Tx: 1<<64 - 1, JobID: strings.Repeat("x.:-_", 25), Seq: 1<<63 - 1, At: at},
	} {
		if got, err := feed.ParseCursor(feed.Cursor(p)); err != nil || got != p {
			t.Errorf("%+v becomes %+v, %v", p, got, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(feed.Cursor(store.FeedPosition{Tx: 7, JobID: "j", Seq: 3, At: time.UnixMilli(1e12)}))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := feed.ParseCursor(text)
		if err == nil {
			if again, err := feed.ParseCursor(feed.Cursor(p)); err != nil || again != p {
				t.Errorf("%q: %+v, then %+v, %v", text, p, again, err)
			}
			if _, err := json.Marshal(p); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
