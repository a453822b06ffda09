package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// A receiver that takes few requests and answers others with 429 gets all webhooks of a burst, from several workers.
func TestLoopThrottledReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const every = 200 * time.Second // 300 take 17 hours
		box := &outbox{}
		var rows []*row
		for i := range 300 {
			rows = append(rows, box.add(fmt.Sprint("hook-", i), "https://a.example/"))
		}
		var last time.Time
		to := &receivers{}
		to.answer = func(context.Context, store.Delivery) webhook.Attempt {
			to.mu.Lock()
			defer to.mu.Unlock()
			if time.Since(last) < every {
				return webhook.Attempt{Status: http.StatusTooManyRequests, RetryAfter: every}
			}
			last = time.Now()
			return webhook.Attempt{Status: http.StatusOK}
		}
		for range 2 {
			run(t, webhook.Config{Deliveries: box, Sender: to})
		}
		advance(90 * time.Hour)
		lost := 0
		for _, r := range rows {
			if box.state(r).status != store.DeliveryDelivered {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("%d of %d are lost after %d attempts", lost, len(rows), to.attempts())
		}
	})
}

// A receiver that always asks for a long wait holds up no other: neither its webhooks nor, by the count of those that are
// due, tasks.
func TestLoopThrottledForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		for i := range 1100 {
			box.add(fmt.Sprint("busy-", i), "https://busy.example/")
		}
		to := &receivers{answer: func(_ context.Context, d store.Delivery) webhook.Attempt {
			if strings.HasPrefix(d.ID, "busy") {
				return webhook.Attempt{Status: http.StatusTooManyRequests, RetryAfter: 24 * time.Hour}
			}
			return webhook.Attempt{Status: http.StatusOK}
		}}
		loop, _ := run(t, webhook.Config{Deliveries: box, Sender: to})
		for i := range 20 {
			advance(10 * time.Second)
			other := box.add(fmt.Sprint("other-", i), "https://other.example/")
			loop.Wake()
			synctest.Wait()
			if got := box.state(other); got.status != store.DeliveryDelivered {
				t.Fatalf("%s: %+v", other.ID, got)
			}
		}
		if n := to.attempts(); n > 24 {
			t.Errorf("%d attempts, want 20 and those at once of the other receiver", n)
		}
		if n := loop.Due(); n != 0 {
			t.Errorf("%d count as due", n)
		}
		advance(2 * time.Minute) // it is tried again after five
		if n := to.attempts(); n < 25 {
			t.Errorf("%d attempts after the hold", n)
		}
	})
}

// A probe that is answered by 429 ends the outage, and does not send all that waited into the same answer.
func TestLoopThrottledProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{outages: map[string]outage{}}
		for i := range 200 {
			box.add(fmt.Sprint("hook-", i), "https://a.example/")
		}
		back := time.Now().Add(time.Second)
		to := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
			if time.Now().Before(back) {
				return unreachable
			}
			return webhook.Attempt{Status: http.StatusTooManyRequests}
		}}
		run(t, webhook.Config{Deliveries: box, Sender: to})
		advance(5 * time.Second)
		before := to.attempts()
		advance(10 * time.Second)
		if n := to.attempts() - before; n < 8 || n > 12 { // one a second
			t.Errorf("%d attempts in ten seconds", n)
		}
	})
}
