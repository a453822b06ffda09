package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Every write of events wakes this process at once and tells others, some times a second at most.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		told := &wakes{}
		s := feed.Announce(whole{engineCalls: r.jobs, wakes: told}, r.feed, feed.Audience{Others: true})
		l := r.feed.Follow(store.FeedPosition{})
		defer l.Close()
		for !l.CaughtUp() {
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		begun, err := s.Begin(t.Context(), store.Begin{Task: store.Task{JobID: "a", MaxAttempts: 1}, Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		for i := range 200 {
			if _, err := s.Heartbeat(t.Context(), store.Heartbeat{
				Holder: store.Holder{JobID: "a", Fence: begun.Fence}, Lease: time.Hour,
				Events: []store.Event{{ID: fmt.Sprint(i), At: time.Now(), Message: fmt.Sprint(i)}},
			}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if _, err := read(t.Context(), l, "199"); err != nil || time.Since(before) > 300*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(before))
		}
		if _, err := s.Complete(t.Context(), store.Completion{
			Holder: store.Holder{JobID: "a", Fence: begun.Fence}, Result: json.RawMessage(`{}`),
		}); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if told.n < 2 || told.n > 5 || strings.Join(told.last, "") != "a" {
			t.Errorf("others were told %d times, last of %q", told.n, told.last)
		}
	})
}

type (
	engineCalls = store.Jobs
	lacking     struct{ store.Store }
)

// whole is the model as a store.
type whole struct {
	lacking
	engineCalls
	*wakes
}

func (whole) Close() {}

func (w whole) MarkSent(context.Context, string, string) error { return w.marked }

// Each message that is sent wakes this process at once and tells other workers, some times a second at most, even if it
// could not be marked.
func TestSentMessagesWakeWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		told, here := &wakes{marked: errors.New("no answer")}, 0
		s := feed.Announce(whole{engineCalls: r.jobs, wakes: told}, r.feed, feed.Audience{
			Workers: true, Sent: func() { here++ },
		})
		if err := s.MarkSent(t.Context(), "a", "m"); err == nil {
			t.Error("the error of MarkSent is lost")
		}
		synctest.Wait()
		if here != 1 || told.workers.Load() != 1 {
			t.Errorf("one message: woken %d times here and %d elsewhere", here, told.workers.Load())
		}
		told.marked = nil
		for range 100 {
			if err := s.MarkSent(t.Context(), "a", "m"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		s.Close() // tells the last
		if n := told.workers.Load(); here != 101 || n < 2 || n > 4 || told.n != 0 {
			t.Errorf("100 messages: woken %d times here and %d elsewhere; %d calls for events", here, n, told.n)
		}
	})
}

type wakes struct {
	n    int
	last []string

	workers atomic.Int32
	marked  error // the error of MarkSent
}

func (w *wakes) WakeWorkers(context.Context) error {
	w.workers.Add(1)
	return nil
}

func (w *wakes) Wake(_ context.Context, ids []string) error {
	w.n, w.last = w.n+1, ids
	return nil
}
