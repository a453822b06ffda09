package postgres_test

import (
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestDueDeliveriesAreCounted: the count of due deliveries is of one tenant, omits claimed ones, and has a limit.
func TestDueDeliveriesAreCounted(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	conn := connect(t, url)
	insert := func(client string, n int, lease string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(),
			`insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at, lease_expires_at)
			select $1, gen_random_uuid(), 'task.failed', 'https://a.example/', '{}', now(), now() + $3::interval from generate_series(1, $2)`,
			client, n, lease); err != nil {
			t.Fatal(err)
		}
	}
	insert("other", 1500, "-1 s")
	insert("acme", 300, "1 h")
	insert("acme", 900, "-1 s")
	for _, want := range []int{890, 1001} {
		claimed, err := s.ClaimDeliveries(t.Context(), store.Claim{
			Worker: "w", Max: 10, Lease: time.Hour, CountDue: true,
		})
		if err != nil || len(claimed.Deliveries) != 10 || claimed.Due != want {
			t.Errorf("claimed %d, %d others due, %v; want 10 and %d", len(claimed.Deliveries), claimed.Due, err, want)
		}
		insert("acme", 600, "-1 s")
	}
}
