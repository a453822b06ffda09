package storetest

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// RunLateWebhooks wants the wait for a receiver that is down to count from its start. Webhooks may be old by then: no
// worker ran, or the receiver had postponed their attempts. superuser is a connection that bypasses the policies.
func RunLateWebhooks(t *testing.T, open Open, superuser *pgx.Conn) {
	// age makes all that the tenant has pending older, tried some times before.
	age := func(b *bench, by string, attempts int) {
		b.t.Helper()
		if _, err := superuser.Exec(b.ctx(), `update webhook_deliveries set attempts = $3, created_at = created_at - $2::interval,
			next_attempt_at = next_attempt_at - $2::interval where client_id = $1 and status = 'pending' and waits_for is null`,
			b.client, by, attempts); err != nil {
			b.t.Fatal(err)
		}
	}
	t.Run("no worker ran", func(t *testing.T) { testLateBacklog(newBench(t, open), age) })
	t.Run("attempts over days", func(t *testing.T) {
		b := newBench(t, open)
		b.hooks("https://down.example/")
		age(b, "96 h", 4)
		d := b.claimAll(hour)[0]
		is := b.attempt(d, hostDown)
		if d.Attempts != 4 || is.Status != store.DeliveryPending || !is.Began {
			t.Fatalf("the fifth attempt: %+v, %+v; want an outage, and that it waits", d, is)
		}
		b.attempt(b.probeNow(is), answered)
		b.wantDelivered(1, 6)
	})
}

// testLateBacklog: old webhooks wait, both those that were sent when the outage began and those that were claimed in it.
func testLateBacklog(b *bench, age func(b *bench, by string, attempts int)) {
	t := b.t
	b.hooks("https://down.example/1", "https://down.example/2", "https://down.example/3")
	age(b, "80 h", 0)
	claimed := b.claimAll(hour)
	if len(claimed) != 3 {
		t.Fatalf("claimed %+v", claimed)
	}
	var first store.Receiver
	for i, d := range claimed {
		is := b.attempt(d, hostDown)
		if is.Status != store.DeliveryPending || !is.Down || is.Began != (i == 0) {
			t.Errorf("attempt %d: %+v, want one outage, and that all wait", i, is)
		}
		if i == 0 {
			first = is
		}
	}
	b.hooks("https://down.example/4")
	age(b, "80 h", 0)
	due, probes := b.claimInOutage()
	if len(due) != 0 {
		t.Errorf("claimed %+v in the outage", due)
	}
	if is := b.attempt(b.probeOf(probes, first), answered); !is.Ended || is.Waiting != 3 {
		t.Errorf("the end: %+v", is)
	}
	for _, d := range b.claimAll(hour) {
		b.attempt(d, answered)
	}
	b.wantDelivered(4, 2)
}

// wantDelivered wants that many deliveries, all delivered, none with more attempts than that.
func (b *bench) wantDelivered(n, attempts int) {
	b.t.Helper()
	all := b.deliveries(store.DeliveryFilter{})
	if len(all) != n || slices.ContainsFunc(all, func(d store.DeliveryEntry) bool {
		return d.Status != store.DeliveryDelivered || d.Attempts > attempts
	}) {
		b.t.Errorf("in the end: %+v, want %d delivered within %d attempts", all, n, attempts)
	}
}
