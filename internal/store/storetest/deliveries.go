package storetest

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// claimAll claims every due delivery of the tenant.
func (b *bench) claimAll(lease time.Duration) []store.Delivery {
	b.t.Helper()
	claimed, err := b.ClaimDeliveries(b.ctx(), store.Claim{Worker: "w", Max: 100, Lease: lease})
	if err != nil {
		b.t.Fatalf("claim: %v", err)
	}
	return claimed.Deliveries
}

// wantDeliveries checks the outbox rows of a job by their type, without claiming them.
func (b *bench) wantDeliveries(jobID string, types ...string) {
	b.t.Helper()
	rows, err := b.JobDeliveries(b.ctx(), jobID)
	if err != nil {
		b.t.Fatalf("deliveries: %v", err)
	}
	if len(rows) != len(types) {
		b.t.Errorf("%d webhooks of %s, want %v", len(rows), jobID, types)
	}
	for _, r := range rows {
		if r.Status != store.DeliveryPending || strings.Contains(r.ID, ".") || r.URL == "" {
			b.t.Errorf("delivery: %+v", r)
		}
	}
	var got []string
	for _, d := range b.claimAll(0) { // with a lease of zero the claim expires at once
		if d.JobID == jobID {
			var body struct{ Type string }
			if err := json.Unmarshal([]byte(d.Body), &body); err != nil {
				b.t.Errorf("body: %v", err)
			}
			got = append(got, body.Type)
		}
	}
	if !slices.Equal(got, types) {
		b.t.Errorf("webhooks of %s: %v, want %v", jobID, got, types)
	}
}

// testOutbox checks the bodies against the contract (docs/contract.md).
func testOutbox(t *testing.T, b *bench) {
	type body struct {
		Type      string
		Timestamp time.Time
		TaskID    *string `json:"task_id"`
		TaskType  *string `json:"task_type"`
		ClientID  string  `json:"client_id"`
		Status    string
		Attempt   int
		Result    map[string]any
		Error     *struct {
			Type, Message, Class, Code string
			Retryable                  *bool
			Attempts                   *int
		}
	}
	next := func() (store.Delivery, body) {
		t.Helper()
		claimed := b.claimAll(hour)
		if len(claimed) != 1 {
			t.Fatalf("%d deliveries", len(claimed))
		}
		d, got := claimed[0], body{}
		if err := json.Unmarshal([]byte(d.Body), &got); err != nil {
			t.Fatalf("%s: %v", d.Body, err)
		}
		if !strings.HasPrefix(d.ID, "msg_") || got.ClientID != b.client ||
			time.Since(got.Timestamp).Abs() > time.Minute || got.Timestamp.Location() != time.UTC {
			t.Errorf("delivery: %+v", d)
		}
		return d, got
	}

	m, h := b.run(func(m *store.Begin) { m.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" })
	b.complete(h)
	d, got := next()
	if d.TraceParent != m.TraceParent {
		t.Errorf("the delivery's trace is %q", d.TraceParent)
	}
	if got.Type != "task.completed" || got.Status != "completed" || *got.TaskID != m.JobID ||
		*got.TaskType != "ingest" ||
		got.Attempt != 1 || got.Result["n"] != float64(1) || got.Error != nil || d.JobID != m.JobID ||
		d.URL != m.WebhookURL {
		t.Errorf("completed: %s", d.Body)
	}

	m, h = b.run()
	b.fail(h, m)
	d, got = next()
	if got.Type != "task.failed" || got.Status != "failed" || got.Result != nil || got.Error == nil ||
		got.Error.Type != badInput.Type ||
		got.Error.Class != badInput.Class || got.Error.Code != badInput.Code || got.Error.Message != badInput.Message ||
		*got.Error.Retryable || *got.Error.Attempts != 1 {
		t.Errorf("failed: %s", d.Body)
	}

	_, h = b.run()
	if _, err := b.Canceled(b.ctx(), h, nil); err != nil {
		t.Fatal(err)
	}
	if d, got = next(); d.TraceParent != "" || got.Type != "task.canceled" || got.Status != "canceled" ||
		got.Result != nil || got.Error != nil {
		t.Errorf("canceled: %s", d.Body)
	}

	b.reject(rejection(func(r *store.Rejection) { r.JobID, r.Type, r.Record = "", "", false }))
	if d, got = next(); got.Type != "task.failed" || got.TaskID != nil || got.Attempt != 1 || *got.Error.Attempts != 0 {
		t.Errorf("rejected: %s", d.Body)
	}

	_, h = b.run(func(m *store.Begin) { m.WebhookURL = "" })
	if s := b.complete(h); s.Deliveries != 0 || len(b.claimAll(hour)) != 0 {
		t.Error("a webhook without an address")
	}
}

// testSkipHosts: a receiver that hangs does not delay the others.
func testSkipHosts(t *testing.T, b *bench) {
	for _, url := range []string{
		"https://Slow.example:8443/hook?x=1", "https://b%C3%BCcher.example/hook", "https://quick.example/hook",
	} {
		_, h := b.run(func(m *store.Begin) { m.WebhookURL = url })
		b.complete(h)
	}
	claimed, err := b.ClaimDeliveries(b.ctx(), store.Claim{
		Worker: "w", Max: 10, Lease: hour, CountDue: true, SkipHosts: []string{"slow.example:8443", "b%c3%bccher.example"},
	})
	got := claimed.Deliveries
	if err != nil || len(got) != 1 || got[0].URL != "https://quick.example/hook" || got[0].Host != "quick.example" {
		t.Errorf("claimed %+v, %v; want the quick receiver's alone", got, err)
	}
	if claimed.Due != 2 {
		t.Errorf("%d others are due, want those of the slow receivers", claimed.Due)
	}
	hosts := map[string]bool{}
	for _, d := range b.claimAll(hour) {
		hosts[d.Host] = true
	}
	if !hosts["slow.example:8443"] || !hosts["b%c3%bccher.example"] {
		t.Errorf("claimed of the hosts %v, which are not those to skip them by", hosts)
	}
}

func testDeliveries(t *testing.T, b *bench) {
	for range 3 {
		_, h := b.run()
		b.complete(h)
	}
	first, err := b.ClaimDeliveries(b.ctx(), store.Claim{Worker: "w1", Max: 2, Lease: hour, CountDue: true})
	two := first.Deliveries
	if err != nil || len(two) != 2 || first.Due != 1 {
		t.Fatalf("claim: %+v, %v", first, err)
	}
	second, err := b.ClaimDeliveries(b.ctx(), store.Claim{Worker: "w2", Max: 2, Lease: hour, CountDue: true})
	one := second.Deliveries
	if err != nil || len(one) != 1 || second.Due != 0 || one[0].ID == two[0].ID || one[0].ID == two[1].ID {
		t.Fatalf("second claim: %+v, %v", one, err)
	}
	none, err := b.ClaimDeliveries(b.ctx(), store.Claim{Worker: "w3", Max: 2, Lease: hour, CountDue: true})
	if err != nil || len(none.Deliveries) != 0 || none.Due != 0 || none.Next <= hour/2 || none.Next > hour {
		t.Errorf("third claim: %+v, %v", none, err)
	}

	settle := func(d store.Delivery, edit func(*store.DeliveryOutcome)) error {
		o := store.DeliveryOutcome{ID: d.ID, Fence: d.Fence, Latency: 12 * time.Millisecond}
		edit(&o)
		_, err := b.SettleDelivery(b.ctx(), o)
		return err
	}
	delivered := func(o *store.DeliveryOutcome) {
		o.Status, o.ResponseStatus = store.DeliveryDelivered, http.StatusNoContent
	}
	if err := settle(two[0], delivered); err != nil {
		t.Fatal(err)
	}
	if err := settle(two[0], delivered); !errors.Is(err, store.ErrFenced) {
		t.Errorf("settled twice: %v", err)
	}
	stale := two[1]
	stale.Fence--
	if err := settle(stale, delivered); !errors.Is(err, store.ErrFenced) {
		t.Errorf("under a stale fence: %v", err)
	}
	if err := settle(two[1], func(o *store.DeliveryOutcome) {
		o.Status, o.ResponseStatus, o.NextAfter, o.Error, o.Response = store.DeliveryPending, 503, 0,
			"503 from the receiver", "busy"
	}); err != nil {
		t.Fatal(err)
	}
	again := b.claimAll(0)
	if len(again) != 1 || again[0].ID != two[1].ID || again[0].Attempts != 1 || again[0].Body != two[1].Body ||
		again[0].Fence <= two[1].Fence {
		t.Fatalf("the next attempt: %+v", again)
	}
	if err := settle(again[0], func(o *store.DeliveryOutcome) {
		o.Status, o.Uncounted, o.Error = store.DeliveryPending, true, "the worker stopped"
	}); err != nil {
		t.Fatal(err)
	}
	if again = b.claimAll(0); len(again) != 1 || again[0].Attempts != 1 {
		t.Fatalf("after one that the worker cut off: %+v", again)
	}
	third := b.claimAll(hour) // the lease of that claim was zero
	if len(third) != 1 || third[0].Fence <= again[0].Fence {
		t.Fatalf("after the lease: %+v", third)
	}
	if err := settle(again[0], delivered); !errors.Is(err, store.ErrFenced) {
		t.Errorf("under an expired claim: %v", err)
	}
	if err := settle(third[0], func(o *store.DeliveryOutcome) {
		o.Status, o.ResponseStatus, o.Error = store.DeliveryFailed, http.StatusGone, "410: the receiver wants no more"
	}); err != nil {
		t.Fatal(err)
	}
	rows, err := b.JobDeliveries(b.ctx(), two[1].JobID)
	if err != nil || len(rows) != 1 || rows[0].Status != store.DeliveryFailed || rows[0].Attempts != 2 ||
		rows[0].ResponseStatus == nil ||
		*rows[0].ResponseStatus != http.StatusGone || rows[0].DeliveredAt != nil {
		t.Errorf("row: %+v, %v", rows, err)
	}
	rows, err = b.JobDeliveries(b.ctx(), two[0].JobID)
	if err != nil || len(rows) != 1 || rows[0].Status != store.DeliveryDelivered || rows[0].DeliveredAt == nil {
		t.Errorf("row: %+v, %v", rows, err)
	}
}

// testOutboxState: a delivery counts as pending until it is delivered or given up, whether it is in flight, due or
// scheduled for later. Those of another tenant don't count.
func testOutboxState(t *testing.T, b *bench) {
	want := func(pending, due int) {
		t.Helper()
		got, err := b.Outbox(b.ctx())
		if err != nil || got.Pending != pending || got.Due != due || got.Oldest < 0 || got.Oldest > hour ||
			pending == 0 && got.Oldest != 0 {
			t.Errorf("outbox: %+v, %v; want %d pending, %d due", got, err, pending, due)
		}
	}
	want(0, 0)
	other := newBench(t, b.open)
	_, h := other.run()
	other.complete(h)
	for range 3 {
		_, h := b.run()
		b.complete(h)
	}

	want(3, 3)
	claimed := b.claimAll(hour)
	want(3, 3)
	for i, status := range []string{store.DeliveryDelivered, store.DeliveryPending, store.DeliveryRefused} {
		o := store.DeliveryOutcome{ID: claimed[i].ID, Fence: claimed[i].Fence, Status: status, NextAfter: hour}
		if _, err := b.SettleDelivery(b.ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	want(1, 0)
}
