package storetest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// hooks adds a delivery to each URL.
func (b *bench) hooks(urls ...string) {
	b.t.Helper()
	for _, url := range urls {
		_, h := b.run(func(m *store.Begin) { m.WebhookURL = url })
		b.complete(h)
	}
}

// attempt settles a claimed delivery.
func (b *bench) attempt(d store.Delivery, edit func(*store.DeliveryOutcome)) store.Receiver {
	b.t.Helper()
	o := store.DeliveryOutcome{ID: d.ID, Fence: d.Fence, Status: store.DeliveryPending, NextAfter: hour}
	edit(&o)
	is, err := b.SettleDelivery(b.ctx(), o)
	if err != nil {
		b.t.Fatalf("settle: %v", err)
	}
	return is
}

func hostDown(o *store.DeliveryOutcome) {
	o.Down, o.Error, o.NextAfter = store.HostDown, "connection refused", 0
}

func answered(o *store.DeliveryOutcome) {
	o.Status, o.ResponseStatus = store.DeliveryDelivered, http.StatusOK
}

// probeNow waits until the probe is due, and claims it.
func (b *bench) probeNow(is store.Receiver) store.Delivery {
	b.t.Helper()
	if !is.Down || is.Probe <= 0 || is.Probe > 6*time.Second {
		b.t.Fatalf("after the attempt: %+v, want a probe within seconds", is)
	}
	timer := time.NewTimer(is.Probe + 20*time.Millisecond) // the database's clock is the real one
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.ctx().Done():
	}
	claimed := b.claimAll(hour)
	if len(claimed) != 1 || !claimed[0].Waiting {
		b.t.Fatalf("claimed %+v, want one probe", claimed)
	}
	return claimed[0]
}

// claimInOutage claims all that is due. A probe is due 5 s after an outage began, which a slow machine may take.
func (b *bench) claimInOutage() (due, probes []store.Delivery) {
	b.t.Helper()
	for _, d := range b.claimAll(hour) {
		if d.Waiting {
			probes = append(probes, d)
		} else {
			due = append(due, d)
		}
	}
	return due, probes
}

// probeOf is probeNow, unless a probe was claimed already.
func (b *bench) probeOf(claimed []store.Delivery, is store.Receiver) store.Delivery {
	b.t.Helper()
	if len(claimed) == 1 {
		return claimed[0]
	}
	return b.probeNow(is)
}

// testOutages: while a host is down its deliveries wait, whatever their schedules, for all workers. One of them probes
// the host, which costs no attempt. When it answers, all are due, except one that failed before and is to be tried later.
func testOutages(t *testing.T, b *bench) {
	b.hooks("https://Down.example/a", "https://down.example/b?x=1", "https://down.example/a", "https://up.example/")
	claimed := b.claimAll(hour)
	down := slices.DeleteFunc(slices.Clone(claimed),
		func(d store.Delivery) bool { return strings.Contains(d.URL, "up.") })
	if len(down) != 3 || down[0].Waiting {
		t.Fatalf("claimed %+v", claimed)
	}
	first := b.attempt(down[0], hostDown)
	if !first.Began || !first.Down || first.Ended || first.Waiting != 3 || first.Status != store.DeliveryPending {
		t.Errorf("the first failure: %+v", first)
	}
	later := down[1]
	if is := b.attempt(later, func(o *store.DeliveryOutcome) {
		hostDown(o)
		o.NextAfter = hour
	}); is.Began || !is.Down {
		t.Errorf("one that was in flight: %+v", is)
	}
	if kept, err := b.ExtendDeliveries(b.ctx(), []store.DeliveryClaim{{ID: down[2].ID, Fence: down[2].Fence}},
		0); err != nil || len(kept) != 1 {
		t.Errorf("given back: %v, %v", kept, err)
	}
	b.hooks("https://down.example/new", "https://up.example/new")
	got, probes := b.claimInOutage()
	if len(got) != 1 || got[0].URL != "https://up.example/new" {
		t.Fatalf("claimed %+v, want the delivery to the other host alone", got)
	}
	rows, err := b.JobDeliveries(b.ctx(), down[2].JobID)
	if err != nil || len(rows) != 1 || rows[0].Status != store.DeliveryPending || rows[0].NextAttemptAt == nil ||
		time.Until(*rows[0].NextAttemptAt) < 24*hour {
		t.Errorf("one that waits: %+v, %v", rows, err)
	}

	probe := b.probeOf(probes, first)
	if again := b.claimAll(hour); len(again) != 0 {
		t.Errorf("a second probe: %+v", again)
	}
	// An old worker counts.
	is := b.attempt(probe, func(o *store.DeliveryOutcome) { o.Status, o.ResponseStatus = store.DeliveryFailed, 503 })
	if !is.Down || is.Began || is.Status != store.DeliveryPending {
		t.Errorf("a failed probe: %+v", is)
	}
	if rows, err := b.JobDeliveries(b.ctx(), probe.JobID); err != nil || len(rows) != 1 ||
		rows[0].Attempts != probe.Attempts {
		t.Errorf("a failed probe cost an attempt: %+v, %v; want %d", rows, err, probe.Attempts)
	}
	other := b.probeNow(is)
	if other.ID == probe.ID || other.Attempts > 1 {
		t.Errorf("the same delivery probes again: %+v", other)
	}
	is = b.attempt(other, answered)
	if !is.Ended || is.Waiting != 3 || is.DownFor <= 0 || is.Down {
		t.Errorf("the end: %+v", is)
	}
	rest := b.claimAll(hour)
	if len(rest) != 2 || slices.ContainsFunc(rest, func(d store.Delivery) bool { return d.Waiting || d.Attempts > 1 }) {
		t.Errorf("due at the end: %+v", rest)
	}
	if rows, err := b.JobDeliveries(b.ctx(), later.JobID); err != nil || len(rows) != 1 || rows[0].NextAttemptAt == nil ||
		time.Until(*rows[0].NextAttemptAt).Abs() > hour || time.Until(*rows[0].NextAttemptAt) < hour/2 {
		t.Errorf("one that is to be tried an hour later: %+v, %v", rows, err)
	}
	if is := b.attempt(rest[0], answered); is.Ended || is.Waiting != 0 {
		t.Errorf("afterwards: %+v", is)
	}
}

// testOutageOfAPath: one path of a host is down, and the others are not. A 4xx answer ends an outage, too.
func testOutageOfAPath(t *testing.T, b *bench) {
	b.hooks("https://half.example/bad?token=1", "https://half.example/bad?token=2", "https://half.example/good")
	claimed := b.claimAll(hour)
	var bad []store.Delivery
	for _, d := range claimed {
		if strings.Contains(d.URL, "bad") {
			bad = append(bad, d)
		}
	}
	is := b.attempt(bad[0], func(o *store.DeliveryOutcome) { o.Down, o.ResponseStatus = store.URLDown, 500 })
	if !is.Began || is.Waiting != 2 {
		t.Errorf("the path: %+v", is)
	}
	b.hooks("https://half.example/bad?token=3", "https://half.example/good?2")
	got, probes := b.claimInOutage()
	if len(got) != 1 || got[0].URL != "https://half.example/good?2" {
		t.Errorf("claimed %+v, want the other path's", got)
	}
	if is := b.attempt(claimed[slices.IndexFunc(claimed,
		func(d store.Delivery) bool { return strings.Contains(d.URL, "good") })], answered); is.Ended {
		t.Errorf("another path's answer ends it: %+v", is)
	}
	probe := b.probeOf(probes, is)
	is = b.attempt(probe, func(o *store.DeliveryOutcome) { o.ResponseStatus = http.StatusNotFound })
	if !is.Ended || is.Down || is.Status != store.DeliveryPending {
		t.Errorf("an answer of 404: %+v", is)
	}
}

// testOutageOfSome: the outcome of one delivery has limited effect on the others. A Retry-After of a day delays the
// receiver's probe by minutes. A delivery that was not sent because its address is refused does not end an outage, and
// the next delivery probes instead.
func testOutageOfSome(t *testing.T, b *bench) {
	b.hooks("https://shared.example/1", "https://shared.example/2", "https://shared.example/3")
	claimed := b.claimAll(hour)
	busy := func(o *store.DeliveryOutcome) {
		o.Down, o.ResponseStatus, o.RetryAfter = store.HostDown, http.StatusServiceUnavailable, 24*hour
	}
	for _, d := range claimed {
		if is := b.attempt(d, busy); !is.Down || is.Probe > 5*time.Minute {
			t.Errorf("after an answer that asks for a day: %+v, want a probe within five minutes", is)
		}
	}

	b.hooks("https://gone.example/1", "https://gone.example/2", "https://gone.example/3")
	claimed = b.claimAll(hour)
	is := b.attempt(claimed[0], hostDown)
	b.attempt(claimed[1], hostDown)
	refused := func(o *store.DeliveryOutcome) { o.Status = store.DeliveryRefused }
	if r := b.attempt(claimed[2], refused); r.Ended || r.Status != store.DeliveryRefused {
		t.Errorf("a delivery that was not sent: %+v", r)
	}
	probe := b.probeNow(is)
	if r := b.attempt(probe, refused); r.Ended || r.Status != store.DeliveryRefused {
		t.Errorf("a probe that was not sent: %+v", r)
	}
	next := b.claimAll(hour)
	if len(next) != 1 || !next[0].Waiting || next[0].ID == probe.ID {
		t.Fatalf("claimed %+v, want the next probe at once", next)
	}
	if r := b.attempt(next[0], answered); !r.Ended {
		t.Errorf("an answer: %+v", r)
	}
}

// testExtendedClaims: the holder of a claim renews its lease. A worker whose claim has expired does not.
func testExtendedClaims(t *testing.T, b *bench) {
	b.hooks("https://a.example/1", "https://a.example/2")
	mine := b.claimAll(0) // they expire at once
	var claims []store.DeliveryClaim
	for _, d := range mine {
		claims = append(claims, store.DeliveryClaim{ID: d.ID, Fence: d.Fence})
	}
	kept, err := b.ExtendDeliveries(b.ctx(), claims, hour)
	if err != nil || len(kept) != 2 || len(b.claimAll(hour)) != 0 {
		t.Fatalf("extended %v, %v; still claimable: %v", kept, err, b.claimAll(hour))
	}
	if kept, err := b.ExtendDeliveries(b.ctx(), claims[:1], 0); err != nil || len(kept) != 1 {
		t.Fatalf("given back: %v, %v", kept, err)
	}
	others := b.claimAll(0)
	if len(others) != 1 || others[0].ID != claims[0].ID {
		t.Fatalf("claimed %+v, want the deliveries that were given back", others)
	}
	if kept, err := b.ExtendDeliveries(b.ctx(), claims, hour); err != nil ||
		!slices.Equal(kept, []string{claims[1].ID}) {
		t.Errorf("a stale claim was extended: %v, %v", kept, err)
	}
	if got := b.claimAll(hour); len(got) != 1 {
		t.Errorf("claimed %+v, want the one whose lease was zero", got)
	}
	b.attempt(mine[1], answered)
	if kept, err := b.ExtendDeliveries(b.ctx(), claims[1:], hour); err != nil || len(kept) != 0 {
		t.Errorf("a settled claim was extended: %v, %v", kept, err)
	}
	if _, err := b.SettleDelivery(b.ctx(), store.DeliveryOutcome{
		ID: claims[0].ID, Fence: claims[0].Fence,
		Status: store.DeliveryDelivered,
	}); !errors.Is(err, store.ErrFenced) {
		t.Error(fmt.Errorf("a stale claim settles: %w", err))
	}
}
