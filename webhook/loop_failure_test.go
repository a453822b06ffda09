package webhook_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

func TestLoopStoreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{failClaims: 6}
		hook := box.add("a", "https://a.example/")
		hooks := always(webhook.Attempt{Status: 200})
		loop, _ := run(t, webhook.Config{Deliveries: box, Sender: hooks})
		for range 100 { // wakes don't make it hammer a store that is down
			loop.Wake()
			advance(10 * time.Millisecond)
		}
		if n := box.claimed(); n > 2 {
			t.Errorf("%d claims within a second", n)
		}
		advance(3 * time.Minute)
		if got := box.state(hook); got.status != store.DeliveryDelivered || hooks.attempts() != 1 {
			t.Errorf("got %+v after %d attempts", got, hooks.attempts())
		}
	})
}

// An outcome that can't be stored at first is stored later, without another attempt. If it can't be stored at all,
// another attempt has the same id.
func TestLoopSettleFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		box      *outbox
		attempts int
	}{
		"twice":           {&outbox{failSettles: 2}, 1},
		"lost answer":     {&outbox{loseAnswers: 1}, 1},
		"for a long time": {&outbox{failSettles: 3}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := c.box
				hook := box.add("a", "https://a.example/")
				hooks := always(webhook.Attempt{Status: 200})
				run(t, webhook.Config{Deliveries: box, Sender: hooks})
				advance(10 * time.Minute)
				if got := box.state(hook); got.status != store.DeliveryDelivered || hooks.attempts() != c.attempts {
					t.Errorf("got %+v after %d attempts, want %d", got, hooks.attempts(), c.attempts)
				}
			})
		})
	}
}

// After its context ends, the loop claims nothing, lets the attempts in flight end, and stores their outcomes. It
// cancels hanging ones after the grace and stores those outcomes, too.
func TestLoopShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		quick, hanging := box.add("quick", "https://a.example/"), box.add("hanging", "https://b.example/")
		hooks := &receivers{answer: func(ctx context.Context, d store.Delivery) webhook.Attempt {
			if d.ID == "quick" {
				time.Sleep(3 * time.Second)
				return webhook.Attempt{Status: 200}
			}
			<-ctx.Done()
			return webhook.Attempt{Err: context.Cause(ctx)}
		}}
		loop, stop := run(t, webhook.Config{Deliveries: box, Sender: hooks, Grace: 8 * time.Second})
		advance(time.Second)
		later := box.add("later", "https://c.example/")
		start := time.Now()
		stop()
		loop.Wake()
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("Run went on for %s, want the grace", took)
		}
		if got := box.state(quick); got.status != store.DeliveryDelivered {
			t.Errorf("quick: got %+v", got)
		}
		if got := box.state(hanging); got.status != store.DeliveryPending || len(got.history) != 1 ||
			!strings.Contains(got.history[0].Error, "the worker stopped") || !got.history[0].Uncounted || got.history[0].NextAfter != 0 {
			t.Errorf("hanging: got %+v", got)
		}
		if got := box.state(later); got.Fence != 0 {
			t.Errorf("later: claimed after the end: %+v", got)
		}
		// The next process continues where this one stopped.
		_, stop = run(t, webhook.Config{Deliveries: box, Sender: always(webhook.Attempt{Status: 200})})
		advance(time.Minute)
		stop()
		if a, b := box.state(hanging), box.state(later); a.status != store.DeliveryDelivered ||
			b.status != store.DeliveryDelivered {
			t.Errorf("got %+v and %+v", a, b)
		}
	})
}

// The loop sends what the last tasks of a drain put into the outbox before it ends.
func TestLoopWokenAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		loop, stop := run(t, webhook.Config{Deliveries: box, Sender: always(webhook.Attempt{Status: 200})})
		synctest.Wait()
		hook := box.add("a", "https://a.example/")
		loop.Wake()
		stop()
		if got := box.state(hook); got.status != store.DeliveryDelivered {
			t.Errorf("got %+v", got)
		}
	})
}
