package storetest

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (b *bench) deliveries(f store.DeliveryFilter) []store.DeliveryEntry {
	b.t.Helper()
	if f.Limit == 0 {
		f.Limit = 100
	}
	all, err := b.ListDeliveries(b.ctx(), f)
	if err != nil {
		b.t.Fatalf("list deliveries: %v", err)
	}
	return all
}

func (b *bench) settleDelivery(d store.Delivery, status string, answer int) {
	b.t.Helper()
	o := store.DeliveryOutcome{ID: d.ID, Fence: d.Fence, Status: status, ResponseStatus: answer, NextAfter: hour}
	if status != store.DeliveryDelivered {
		o.Error = http.StatusText(answer)
	}
	if _, err := b.SettleDelivery(b.ctx(), o); err != nil {
		b.t.Fatalf("settle: %v", err)
	}
}

// testListDeliveries: a listing has the newest first, filters by state and job, shows only the host of a URL, and has
// no delivery of another client.
func testListDeliveries(t *testing.T, b *bench) {
	other := newBench(t, b.open)
	m, h := other.run()
	other.complete(h)
	for _, url := range []string{
		"https://a.example/hook?token=secret", "https://user:secret@B.example:8443/secret#x",
		"https://c.example",
	} {
		_, h := b.run(func(m *store.Begin) { m.WebhookURL = url })
		b.complete(h)
	}
	claimed := b.claimAll(hour)
	b.settleDelivery(claimed[0], store.DeliveryFailed, http.StatusGone)
	b.settleDelivery(claimed[1], store.DeliveryDelivered, http.StatusNoContent)

	all := b.deliveries(store.DeliveryFilter{})
	var hosts []string
	for _, d := range all {
		hosts = append(hosts, d.Host+" "+d.Status)
		if d.Event != "task.completed" || d.JobID == "" || d.CreatedAt.IsZero() ||
			d.InFlight != (d.Status == store.DeliveryPending) {
			t.Errorf("%+v", d)
		}
		if d.LastError != nil && strings.Contains(*d.LastError, "secret") || strings.Contains(d.Host, "secret") {
			t.Errorf("it has more of the URL than the host: %+v", d)
		}
	}
	if got := strings.Join(hosts, ", "); got != "c.example pending, b.example:8443 delivered, a.example failed" {
		t.Errorf("lists %s", got)
	}
	if d := all[2]; d.Attempts != 1 || *d.ResponseStatus != http.StatusGone || *d.LastError != "Gone" ||
		d.DeliveredAt != nil || d.NextAttemptAt != nil {
		t.Errorf("failed: %+v", d)
	}
	for _, c := range []struct {
		f    store.DeliveryFilter
		want int
	}{
		{store.DeliveryFilter{Status: store.DeliveryFailed}, 1},
		{store.DeliveryFilter{Status: store.DeliveryRefused}, 0},
		{store.DeliveryFilter{JobID: all[1].JobID}, 1},
		{store.DeliveryFilter{JobID: all[1].JobID, Status: store.DeliveryFailed}, 0},
		{store.DeliveryFilter{JobID: m.JobID}, 0}, // I10: another client's
		{store.DeliveryFilter{Limit: 2}, 2},
	} {
		if got := b.deliveries(c.f); len(got) != c.want {
			t.Errorf("%+v: %d deliveries, want %d", c.f, len(got), c.want)
		}
	}
}

// testResendDelivery: a delivery that has ended is sent again under its id, with its body and a new schedule. One that
// is pending, in flight, delivered or another client's is not.
func testResendDelivery(t *testing.T, b *bench) {
	resend := func(id string, delivered bool, want error) store.DeliveryEntry {
		t.Helper()
		d, err := b.ResendDelivery(b.ctx(), store.DeliveryResend{ID: id, Delivered: delivered})
		if !errors.Is(err, want) {
			t.Errorf("resend %s: %v, want %v", id, err, want)
		}
		return d
	}
	for range 4 {
		_, h := b.run()
		b.complete(h)
	}
	resend("msg_nobody", true, store.ErrNotFound)
	for _, d := range b.deliveries(store.DeliveryFilter{}) {
		resend(d.ID, true, store.ErrNotResendable) // pending
	}
	claimed := b.claimAll(hour)
	resend(claimed[0].ID, true, store.ErrNotResendable) // in flight
	b.settleDelivery(claimed[0], store.DeliveryFailed, http.StatusGone)
	b.settleDelivery(claimed[1], store.DeliveryRefused, 0)
	b.settleDelivery(claimed[2], store.DeliveryDelivered, http.StatusNoContent)
	b.settleDelivery(claimed[3], store.DeliveryPending, http.StatusServiceUnavailable)
	resend(claimed[3].ID, true, store.ErrNotResendable) // its next attempt is due in an hour
	if got := b.claimAll(hour); len(got) != 0 {
		t.Fatalf("due: %+v", got)
	}

	other := newBench(t, b.open)
	if _, err := other.ResendDelivery(b.ctx(), store.DeliveryResend{ID: claimed[0].ID, Delivered: true}); !errors.Is(
		err, store.ErrNotFound) {
		t.Errorf("I10: another client: %v", err)
	}

	for i, d := range claimed[:3] {
		if i == 2 {
			resend(d.ID, false, store.ErrDelivered)
		}
		e := resend(d.ID, i == 2, nil)
		if e.ID != d.ID || e.Status != store.DeliveryPending || e.Attempts != 1 || e.InFlight ||
			e.NextAttemptAt == nil || e.DeliveredAt != nil {
			t.Errorf("sent again: %+v", e)
		}
		resend(d.ID, true, store.ErrNotResendable) // once is enough
	}
	again := b.claimAll(hour)
	if len(again) != 3 {
		t.Fatalf("due: %+v", again)
	}
	for _, d := range again {
		i := slices.IndexFunc(claimed, func(c store.Delivery) bool { return c.ID == d.ID })
		if i < 0 || d.Body != claimed[i].Body || d.URL != claimed[i].URL || d.Attempts != 0 ||
			d.Fence <= claimed[i].Fence {
			t.Errorf("claimed again: %+v", d)
			continue
		}
		// The first claim is over: its late outcome is refused.
		_, err := b.SettleDelivery(b.ctx(), store.DeliveryOutcome{
			ID: d.ID, Fence: claimed[i].Fence, Status: store.DeliveryDelivered,
		})
		if !errors.Is(err, store.ErrFenced) {
			t.Errorf("under the old fence: %v", err)
		}
		b.settleDelivery(d, store.DeliveryDelivered, http.StatusOK)
	}
	for _, e := range b.deliveries(store.DeliveryFilter{Status: store.DeliveryDelivered}) {
		if e.Attempts != 2 {
			t.Errorf("delivered at the second attempt, %d are listed", e.Attempts)
		}
	}
}

// testResentDeliveries: how a delivery ended stays readable each time it is sent again, newest first and at most 20.
func testResentDeliveries(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	const times = 23
	for i := range times {
		claimed := b.claimAll(hour)
		if len(claimed) != 1 {
			t.Fatalf("due: %+v", claimed)
		}
		if i == 1 { // the second time it takes two attempts
			o := store.DeliveryOutcome{ID: claimed[0].ID, Fence: claimed[0].Fence, Status: store.DeliveryPending}
			if _, err := b.SettleDelivery(b.ctx(), o); err != nil {
				t.Fatal(err)
			}
			claimed = b.claimAll(hour)
		}
		if i == 2 {
			b.settleDelivery(claimed[0], store.DeliveryDelivered, http.StatusNoContent)
		} else {
			b.settleDelivery(claimed[0], store.DeliveryFailed, 400+i)
		}
		before := b.deliveries(store.DeliveryFilter{})[0]
		e, err := b.ResendDelivery(b.ctx(), store.DeliveryResend{ID: claimed[0].ID, Delivered: true})
		if err != nil {
			t.Fatal(err)
		}
		want := store.DeliveryEnd{
			Status: before.Status, Attempts: 1, ResponseStatus: before.ResponseStatus, LastError: before.LastError,
			CreatedAt: before.CreatedAt, DeliveredAt: before.DeliveredAt, ResentAt: e.CreatedAt,
		}
		if i == 1 {
			want.Attempts = 2
		}
		if e.ResponseStatus != nil || e.LastError != nil {
			t.Errorf("sent again, and not answered yet: %+v", e)
		}
		if len(e.Earlier) != min(i+1, 20) || !reflect.DeepEqual(e.Earlier[0], want) {
			t.Fatalf("sent again %d times: %+v, want %+v first", i+1, e.Earlier, want)
		}
	}
	listed := b.deliveries(store.DeliveryFilter{})[0]
	if listed.Attempts != times+1 || len(listed.Earlier) != 20 {
		t.Errorf("listed: %+v", listed)
	}
	for i, e := range listed.Earlier { // the oldest three are gone, the delivered one among them
		if e.Status != store.DeliveryFailed || *e.ResponseStatus != 400+times-1-i || e.ResentAt.Before(e.CreatedAt) {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	of, err := b.JobDeliveries(b.ctx(), m.JobID)
	if err != nil || len(of) != 1 || !reflect.DeepEqual(of[0].Earlier, listed.Earlier) {
		t.Errorf("of the job: %+v, %v", of, err)
	}
}
