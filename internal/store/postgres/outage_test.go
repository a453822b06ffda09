package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestLateWebhooks: how old a webhook is does not end its wait for its receiver.
func TestLateWebhooks(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	storetest.RunLateWebhooks(t, func(t testing.TB, client string) store.Store { return open(t, url, client) }, connect(t, url))
}

// TestDeliveriesEndInAnOutage: deliveries wait for a receiver that never answers for as long as their schedule takes.
// Then each is tried once more, and ends. It is kept from then on, and waits as long when it is sent again.
func TestDeliveriesEndInAnOutage(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	conn := connect(t, url)
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	claim := func() []store.Delivery {
		t.Helper()
		claimed, err := s.ClaimDeliveries(t.Context(), store.Claim{Worker: "w", Max: 100, Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return claimed.Deliveries
	}
	fail := func(d store.Delivery) store.Receiver {
		t.Helper()
		is, err := s.SettleDelivery(t.Context(), store.DeliveryOutcome{
			ID: d.ID, Fence: d.Fence, Status: store.DeliveryPending, NextAfter: time.Hour, Down: store.HostDown,
			Error: "connection refused",
		})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	exec(`insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at, created_at)
		select 'acme', 'd' || n, 'task.failed', 'https://a.example/' || n, '{}', now(), now() - interval '70 h' from generate_series(1, 3) n`)
	for _, d := range claim() {
		if is := fail(d); !is.Down {
			t.Fatalf("%s: %+v", d.ID, is)
		}
	}
	exec(`update webhook_outages set probe_at = now() + interval '1 h'`)
	if got := claim(); len(got) != 0 {
		t.Fatalf("claimed %+v in the outage", got)
	}
	pass := func(time string) {
		t.Helper()
		exec(`update webhook_deliveries set created_at = created_at - interval '` + time + `',
			waits_since = waits_since - interval '` + time + `', next_attempt_at = next_attempt_at - interval '` + time + `'`)
	}
	pass("75 h")
	exec(`update webhook_outages set probe_at = now()`)
	for _, d := range claim() {
		if is := fail(d); !d.Waiting || !is.Down {
			t.Errorf("a probe: %+v, %+v", d, is)
		}
	}
	exec(`update webhook_outages set probe_at = now() + interval '1 h'`)
	if got := claim(); len(got) != 0 {
		t.Fatalf("claimed %+v before the end of the wait", got)
	}
	pass("61 min")
	last := claim()
	if len(last) != 3 {
		t.Fatalf("claimed %d at the end of the schedule", len(last))
	}
	for _, d := range last {
		if is := fail(d); is.Status != store.DeliveryFailed || is.Down {
			t.Errorf("%s: %+v", d.ID, is)
		}
	}
	exec(`update webhook_outages set probe_at = now()`)
	claim()
	var outages, waiting int
	if err := conn.QueryRow(t.Context(),
		`select (select count(*) from webhook_outages), (select count(*) from webhook_deliveries
		where waits_for is not null or status <> 'failed')`).Scan(&outages, &waiting); err != nil || outages != 0 || waiting != 0 {
		t.Errorf("%d outages, %d deliveries are left, %v", outages, waiting, err)
	}
	if n, err := s.ExpireDeliveries(t.Context(), time.Hour, 10); err != nil || n != 0 {
		t.Errorf("%d that were just given up are removed, %v", n, err)
	}
	if _, err := s.ResendDelivery(t.Context(), store.DeliveryResend{ID: "d1"}); err != nil {
		t.Fatal(err)
	}
	again := claim()
	if len(again) != 1 {
		t.Fatalf("claimed %+v, want the one that is sent again", again)
	}
	if is := fail(again[0]); is.Status != store.DeliveryPending || !is.Down {
		t.Errorf("sent again: %+v", is)
	}
	exec(`update webhook_outages set probe_at = now() + interval '1 h'`)
	if got := claim(); len(got) != 0 {
		t.Errorf("claimed %+v in the next outage", got)
	}
}

// TestOutagesOfManyWorkers: workers that begin and end outages at the same time don't block each other, and the next
// claim leaves no delivery that waits for an outage that has ended.
func TestOutagesOfManyWorkers(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at)
		select 'acme', 'd' || n, 'task.failed', 'https://a.example/' || n % 3, '{}', now() from generate_series(1, 200) n`); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for worker := range 4 {
		s := open(t, url, "acme")
		t.Cleanup(s.Close)
		workers.Go(func() {
			for round := range 30 {
				claimed, err := s.ClaimDeliveries(t.Context(), store.Claim{Worker: "w", Max: 10, Lease: time.Hour})
				if err != nil {
					t.Errorf("claim: %v", err)
					return
				}
				for i, d := range claimed.Deliveries {
					o := store.DeliveryOutcome{ID: d.ID, Fence: d.Fence, Status: store.DeliveryPending, NextAfter: 0}
					switch (worker + round + i) % 4 {
					case 0:
						o.Status, o.ResponseStatus = store.DeliveryDelivered, 200
					case 1:
						o.Down = store.HostDown
					case 2:
						o.Down, o.ResponseStatus = store.URLDown, 500
					default:
						o.ResponseStatus = 404
					}
					if _, err := s.SettleDelivery(t.Context(), o); err != nil {
						t.Errorf("settle: %v", err)
					}
				}
			}
		})
	}
	workers.Wait()
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	if _, err := s.ClaimDeliveries(t.Context(), store.Claim{Worker: "w", Max: 1, Lease: time.Hour}); err != nil {
		t.Fatal(err)
	}
	var lost int
	if err := conn.QueryRow(t.Context(),
		`select count(*) from webhook_deliveries d where d.status = 'pending' and d.waits_for is not null
		and not exists (select from webhook_outages o where o.client_id = d.client_id and o.receiver = d.waits_for)`).Scan(&lost); err != nil || lost > 0 {
		t.Errorf("%d deliveries wait for an outage that has ended, %v", lost, err)
	}
}

// TestEndOfAnOutageOfMany: whatever the number of deliveries that wait, the end of their outage and each claim after it
// change at most about a thousand of them, and the claims get all.
func TestEndOfAnOutageOfMany(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	if _, err := connect(t, url).Exec(t.Context(), `
		insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at, waits_for)
		select 'acme', 'd' || n, 'task.failed', 'https://a.example/', '{}', now() + interval '75 h', 'a.example' from generate_series(1, 5000) n;
		insert into webhook_outages (client_id, receiver, since, probe_at) values ('acme', 'a.example', now(), now());
		analyze webhook_deliveries`); err != nil {
		t.Fatal(err)
	}
	call := func(sql string, args ...any) (answer []string) {
		t.Helper()
		conn := connect(t, url) // the statistics are of one session
		var updated int
		if err := conn.QueryRow(t.Context(), `select `+sql+`, (select sum(n_tup_upd) from pg_stat_xact_all_tables
			where relname = 'webhook_deliveries')`, args...).Scan(&answer, &updated); err != nil {
			t.Fatal(err)
		}
		if updated > 1200 {
			t.Errorf("%s changed %d rows", sql, updated)
		}
		return answer
	}
	const claim = `array(select d ->> 'id' from jsonb_array_elements(aw_claim_deliveries(
		'{"client_id":"acme","worker":"w","max":100,"lease_ms":600000}') -> 'deliveries') d)`
	probe := call(claim)
	if len(probe) != 1 {
		t.Fatalf("claimed %v, want one probe", probe)
	}
	if is := call(`array[aw_settle_delivery(jsonb_build_object('client_id', 'acme', 'id', $1::text, 'fence', 1, 'status', 'delivered',
		'response_status', 200)) ->> 'waiting']`, probe[0]); is[0] != "4999" {
		t.Errorf("%v are reported to wait, want 4999", is)
	}
	exec := func(sql string) {
		t.Helper()
		if _, err := connect(t, url).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(`insert into webhook_outages (client_id, receiver, since, probe_at) values ('acme', 'a.example', now(), now() + interval '1 h')`)
	if got := call(claim); len(got) != 0 {
		t.Errorf("claimed %v in the next outage", got)
	}
	exec(`delete from webhook_outages`)
	claimed := map[string]bool{}
	for range 50 {
		for _, id := range call(claim) {
			claimed[id] = true
		}
	}
	if len(claimed) != 4999 {
		t.Errorf("claimed %d after the outage, want all of 4999", len(claimed))
	}
}
