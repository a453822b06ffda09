package postgres_test

import (
	"fmt"
	"slices"
	"strings"
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

// TestClaimReadsNoBacklog: what a claim reads depends on what it claims and on the number of receivers, not on how many
// deliveries are pending.
func TestClaimReadsNoBacklog(t *testing.T) {
	t.Parallel()
	const backlog = `insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at, waits_for)
		select 'acme', 'b' || n, 'task.failed', %s, '{}', now() + interval '%s', %s from generate_series(1, 5000) n;
		insert into webhook_outages (client_id, receiver, since, probe_at)
		select distinct 'acme', waits_for, now(), now() + interval '1 h' from webhook_deliveries where waits_for is not null;`
	for name, setup := range map[string]string{
		"no other":              "",
		"a receiver is down":    fmt.Sprintf(backlog, "'https://dead.example/'", "75 h", "'dead.example'"),
		"receivers are down":    fmt.Sprintf(backlog, "'https://dead' || n % 100 || '.example/'", "75 h", "'dead' || n % 100 || '.example'"),
		"many attempts failed":  fmt.Sprintf(backlog, "'https://odd.example/'", "5 h", "null"),
		"a receiver is at work": fmt.Sprintf(backlog, "'https://slow.example/'", "-1 h", "null"),
		"another tenant's": strings.ReplaceAll(
			fmt.Sprintf(backlog, "'https://dead.example/'", "-1 h", "'dead.example'"), "'acme'", "'other'"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
			if _, err := connect(t, url).Exec(t.Context(), setup+`
				insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at)
				select 'acme', 'd' || n, 'task.failed', 'https://live' || n % 3 || '.example/', '{}', now() - interval '1 s'
				from generate_series(1, 30) n;
				analyze webhook_deliveries`); err != nil {
				t.Fatal(err)
			}
			conn := connect(t, url) // the statistics are of one session
			var claimed, read int
			if err := conn.QueryRow(t.Context(), `select jsonb_array_length(aw_claim_deliveries(
				'{"client_id":"acme","worker":"w","max":10,"lease_ms":60000,"skip_hosts":["slow.example"]}') -> 'deliveries'),
				(select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_all_tables
				where relname in ('webhook_deliveries', 'webhook_outages'))`).Scan(&claimed, &read); err != nil {
				t.Fatal(err)
			}
			if claimed != 10 || read > 1000 {
				t.Errorf("claimed %d and read %d rows, want 10 and at most 1000", claimed, read)
			}
		})
	}
}

// TestClaimBehindABacklog: beside a long backlog of a host that is skipped, the oldest of the others are claimed, each
// once. Those of a receiver that is down are made to wait. A row that an older version ended is among them when it is
// sent again.
func TestClaimBehindABacklog(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "acme")
	t.Cleanup(s.Close)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `
		insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at)
		select 'acme', 'first' || n, 'task.failed', 'https://a.example/', '{}', now() - interval '3 h' from generate_series(1, 2) n;
		insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at)
		select 'acme', 's' || n, 'task.failed', 'https://slow.example/', '{}', now() - interval '2 h' from generate_series(1, 300) n;
		insert into webhook_deliveries (client_id, id, event, url, body, next_attempt_at)
		select 'acme', host || n, 'task.failed', 'https://' || host || '.example/', '{}', now() - interval '1 h' + n * interval '1 s'
		from generate_series(1, 5) n, unnest(array['a', 'b', 'down']) host;
		insert into webhook_outages (client_id, receiver, since, probe_at) values ('acme', 'down.example', now(), now() + interval '1 h');
		insert into webhook_deliveries (client_id, id, event, url, body, status) values ('acme', 'old', 'task.failed', 'https://B.example/', '{}', 'failed');
		update webhook_deliveries set host = null where id = 'old'`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ResendDelivery(t.Context(), store.DeliveryResend{ID: "old"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 4 {
		claimed, err := s.ClaimDeliveries(t.Context(), store.Claim{
			Worker: "w", Max: 6, Lease: time.Hour, SkipHosts: []string{"slow.example"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range claimed.Deliveries {
			got = append(got, d.ID)
		}
		if len(claimed.Deliveries) < 6 && len(got) < 13 && (claimed.Next <= 0 || claimed.Next > time.Second) {
			t.Errorf("after %v the next is due in %v, want at once", got, claimed.Next)
		}
	}
	want := []string{"first1", "first2", "a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3", "b4", "b5", "old"}
	if sorted := slices.Sorted(slices.Values(got)); !slices.Equal(sorted, slices.Sorted(slices.Values(want))) ||
		got[len(got)-1] != "old" || !strings.HasPrefix(got[0], "first") || !strings.HasPrefix(got[1], "first") {
		t.Errorf("claimed %v, want %v", got, want)
	}
	var waiting int
	if err := conn.QueryRow(t.Context(), `select count(*) from webhook_deliveries where waits_for = 'down.example'
		and next_attempt_at > now() + interval '70 h'`).Scan(&waiting); err != nil || waiting != 5 {
		t.Errorf("%d wait for the receiver that is down, %v; want 5", waiting, err)
	}
}
