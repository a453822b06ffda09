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
		for range 100 { // being woken doesn't make it hammer a store that is down
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

// An outcome that can't be noted at first is noted later, without another attempt; one that can't be
// noted at all means another attempt, with the same id.
func TestLoopSettleFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		box      *outbox
		attempts int
	}{
		"twice":       {&outbox{failSettles: 2}, 1},
		"lost answer": {&outbox{loseAnswers: 1}, 1},
		"for long":    {&outbox{failSettles: 3}, 2},
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

// Once its context ends the loop claims no more, lets what is in flight end, and notes it; what hangs
// is cut off after the grace, and noted too.
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
			!strings.Contains(got.history[0].Error, "the worker stopped") {
			t.Errorf("hanging: got %+v", got)
		}
		if got := box.state(later); got.Fence != 0 {
			t.Errorf("later: claimed after the end: %+v", got)
		}
		// The next process goes on where this one stopped.
		_, stop = run(t, webhook.Config{Deliveries: box, Sender: always(webhook.Attempt{Status: 200})})
		advance(time.Minute)
		stop()
		if a, b := box.state(hanging), box.state(later); a.status != store.DeliveryDelivered ||
			b.status != store.DeliveryDelivered {
			t.Errorf("got %+v and %+v", a, b)
		}
	})
}

// What the last tasks of a drain left in the outbox goes out before the end.
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
