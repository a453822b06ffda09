package webhook_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// Slow receivers, however long their backlogs, don't hold up others: the last places are for receivers that have none.
// So it is with one whose host is escaped, which url.Parse reads as another text than the store does.
func TestLoopSlowReceivers(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]string{
		"many": "https://slow%d.example/", "escaped": "https://slow%%C3%%BC%d.example/", "not ASCII": "https://slowü%d.example/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowReceivers(t, slow)
		})
	}
}

func slowReceivers(t *testing.T, slow string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		for i := range 400 {
			box.add(fmt.Sprint("slow-", i), fmt.Sprintf(slow, i%8))
		}
		loop, _ := run(t, webhook.Config{
			Deliveries: box,
			Sender: &receivers{answer: func(_ context.Context, d store.Delivery) webhook.Attempt {
				if strings.Contains(d.URL, "slow") {
					time.Sleep(14 * time.Second)
				}
				return webhook.Attempt{Status: 200}
			}},
		})
		advance(time.Second)
		for i := range 20 {
			quick := box.add(fmt.Sprint("quick-", i), "https://quick.example/")
			loop.Wake()
			advance(time.Second)
			if got := box.state(quick); got.status != store.DeliveryDelivered {
				t.Fatalf("after a second, %s is %s", quick.ID, got.status)
			}
		}
	})
}

// However many receivers are slow, the last places are for others once it is known that they are.
func TestLoopManySlowReceivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		for i := range 800 {
			box.add(fmt.Sprint("slow-", i), fmt.Sprintf("https://slow%d.example/", i%40))
		}
		to := &receivers{answer: func(_ context.Context, d store.Delivery) webhook.Attempt {
			if strings.Contains(d.URL, "slow") {
				time.Sleep(14 * time.Second)
				return webhook.Attempt{Status: 200, Latency: 14 * time.Second}
			}
			return webhook.Attempt{Status: 200}
		}}
		loop, _ := run(t, webhook.Config{Deliveries: box, Sender: to})
		advance(time.Minute) // each of them has answered once
		for i := range 20 {
			quick := box.add(fmt.Sprint("quick-", i), "https://quick.example/")
			loop.Wake()
			advance(time.Second)
			if got := box.state(quick); got.status != store.DeliveryDelivered {
				t.Fatalf("after a second, %s is %s", quick.ID, got.status)
			}
		}
		advance(20 * time.Minute)
		if n := to.attempts(); n != 820 { // 12 at a time take 16 minutes
			t.Errorf("%d delivered, want all of 820", n)
		}
	})
}

// A long backlog of one receiver takes a few claims for every Concurrency deliveries, not one for each.
func TestLoopClaimsManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		for i := range 800 {
			box.add(fmt.Sprint("hook-", i), "https://a.example/")
		}
		to := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
			time.Sleep(time.Second)
			return webhook.Attempt{Status: 200}
		}}
		run(t, webhook.Config{Deliveries: box, Sender: to})
		advance(201 * time.Second)
		if n := to.attempts(); n != 800 {
			t.Errorf("%d delivered, want all of 800", n)
		}
		if box.claims > 200 {
			t.Errorf("%d claims for 800 deliveries", box.claims)
		}
	})
}
