package feed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A listener that does not read is let go, keeps nothing, and holds up nobody. It can go on where it was.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := r.begin("j")
		slow, quick, watch := r.feed.Follow(store.FeedPosition{}), r.feed.Follow(store.FeedPosition{}), r.feed.Watch("j", 1)
		for _, l := range []*feed.Listener{slow, quick, watch} {
			for !l.CaughtUp() {
				if _, err := l.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		start := slow.Position()
		var want []string
		for i := range 300 {
			want = append(want, fmt.Sprint(i))
			r.report(h, want[i])
			r.feed.Written("j")
			r.want(quick, want[i])
		}
		for _, l := range []*feed.Listener{slow, watch} {
			if events, err := l.Next(t.Context()); !errors.Is(err, feed.ErrSlow) || len(events) > 0 {
				t.Errorf("%d events, %v", len(events), err)
			}
		}
		if n := r.feed.Listeners(); n != 1 {
			t.Errorf("%d listeners are left", n)
		}
		again, watchAgain := r.feed.Follow(start), r.feed.Watch("j", 1)
		r.want(again, want...)
		r.want(watchAgain, want...)
		for _, l := range []*feed.Listener{slow, quick, watch, again, watchAgain} {
			l.Close()
		}
	})
}

// Large events are bounded by their size.
func TestSlowListenerOfLargeEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := r.begin("j")
		l := r.feed.Watch("j", 1)
		defer l.Close()
		for !l.CaughtUp() {
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			r.report(h, strings.Repeat("x", 200<<10))
		}
		r.feed.Written("j")
		time.Sleep(time.Second)
		if _, err := l.Next(t.Context()); !errors.Is(err, feed.ErrSlow) {
			t.Errorf("got %v", err)
		}
		big := r.feed.Watch("j", 5)
		defer big.Close()
		for !big.CaughtUp() {
			if _, err := big.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		one := strings.Repeat("y", 2<<20)
		r.report(h, one)
		r.want(big, one)
	})
}
