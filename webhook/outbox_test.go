package webhook_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// outbox is the store's outbox in memory, with its semantics: leases, a fence that increases with each claim, due
// times. It uses time.Now, so it belongs in a synctest bubble.
type outbox struct {
	mu     sync.Mutex
	rows   []*row
	claims int // calls of ClaimDeliveries

	failClaims, failSettles int  // this many calls fail
	loseAnswers             int  // this many settles succeed but return an error
	ignoreSkip              bool // like a store without SkipHosts
	failExtends             bool
	outages                 map[string]outage // by receiver; nil: like a store without them
}

type row struct {
	store.Delivery
	status  string
	due     time.Time
	leased  time.Time // until
	waits   string    // the outage that it waits for; empty: none
	since   time.Time // when the wait began
	own     time.Time // when its schedule has it, while it waits
	history []store.DeliveryOutcome
	ended   time.Time
}

var errDown = errors.New("the store is down")

func (o *outbox) add(id, url string) *row {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &row{
		Delivery: store.Delivery{ID: id, JobID: "job-" + id, URL: url, Body: "{}"},
		status:   store.DeliveryPending, due: time.Now(),
	}
	o.rows = append(o.rows, r)
	return r
}

// addOnce is add of a delivery that may be sent once only.
func (o *outbox) addOnce(id, url string, once bool) {
	r := o.add(id, url)
	o.mu.Lock()
	defer o.mu.Unlock()
	r.Once = once
}

func (o *outbox) ClaimDeliveries(ctx context.Context, c store.Claim) (store.ClaimedDeliveries, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claims++
	if err := ctx.Err(); err != nil {
		return store.ClaimedDeliveries{}, err
	}
	if o.failClaims > 0 {
		o.failClaims--
		return store.ClaimedDeliveries{}, errDown
	}
	if c.Max < 1 || c.Max > 100 || c.Worker == "" || c.Lease <= 0 {
		return store.ClaimedDeliveries{}, errors.New("a claim out of its bounds")
	}
	now := time.Now()
	var claimed store.ClaimedDeliveries
	slices.SortStableFunc(o.rows, func(a, b *row) int { return a.due.Compare(b.due) })
	for _, r := range o.rows {
		if r.status != store.DeliveryPending {
			continue
		}
		at := r.due
		if r.leased.After(at) {
			at = r.leased
		}
		held, probe := o.hold(r, now)
		switch {
		case held:
			at = o.outages[r.waits].probe
		case probe:
			at = now
		}
		if wait := at.Sub(now); wait > 0 {
			if claimed.Next == 0 || wait < claimed.Next {
				claimed.Next = wait
			}
			continue
		}
		if len(claimed.Deliveries) == c.Max || !o.ignoreSkip && slices.Contains(c.SkipHosts, hostOf(r.URL)) {
			if c.CountDue {
				claimed.Due = min(claimed.Due+1, 1001)
			}
			continue
		}
		r.Fence++
		r.leased = now.Add(c.Lease)
		r.Waiting = r.waits != ""
		d := r.Delivery
		d.Host = hostOf(r.URL)
		claimed.Deliveries = append(claimed.Deliveries, d)
	}
	return claimed, nil
}

// hostOf is the host of a URL as the trigger aw_set_delivery_host has it.
func hostOf(url string) string { return strings.ToLower(strings.Split(url, "/")[2]) }

func (o *outbox) ExtendDeliveries(
	ctx context.Context, claims []store.DeliveryClaim, lease time.Duration,
) (kept []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.failExtends {
		return nil, errDown
	}
	for _, r := range o.rows {
		if slices.Contains(claims, store.DeliveryClaim{ID: r.ID, Fence: r.Fence}) &&
			r.status == store.DeliveryPending && !r.leased.IsZero() {
			r.leased = time.Now().Add(lease)
			kept = append(kept, r.ID)
		}
	}
	return kept, nil
}

func (o *outbox) SettleDelivery(ctx context.Context, outcome store.DeliveryOutcome) (store.Receiver, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return store.Receiver{}, err
	}
	if o.failSettles > 0 {
		o.failSettles--
		return store.Receiver{}, errDown
	}
	for _, r := range o.rows {
		if r.ID != outcome.ID {
			continue
		}
		if r.Fence != outcome.Fence || r.status != store.DeliveryPending || r.leased.IsZero() {
			return store.Receiver{}, store.ErrFenced
		}
		is := o.receiver(r, outcome)
		r.status, r.leased = is.Status, time.Time{}
		if !is.Down || !r.Waiting {
			r.Attempts++
			r.own = time.Now().Add(outcome.NextAfter)
		}
		r.Waiting = false
		r.history = append(r.history, outcome)
		switch {
		case is.Down:
			r.due = r.since.Add(maxWait)
		case is.Status == store.DeliveryPending:
			r.due = time.Now().Add(outcome.NextAfter)
		default:
			r.ended = time.Now()
		}
		if o.loseAnswers > 0 {
			o.loseAnswers--
			return store.Receiver{}, errDown
		}
		return is, nil
	}
	return store.Receiver{}, store.ErrNotFound
}

// maxWait is aw_webhook_max_wait.
const maxWait = 76 * time.Hour

// outage is a receiver that is down.
type outage struct {
	since, probe time.Time
}

// receiver tracks outages like the store (aw_settle_delivery), if the outbox has them.
func (o *outbox) receiver(r *row, outcome store.DeliveryOutcome) (is store.Receiver) {
	is.Status = outcome.Status
	if o.outages == nil {
		return is
	}
	host := hostOf(r.URL)
	names := map[string]string{store.HostDown: host, store.URLDown: host + "/" + r.URL}
	if outcome.ResponseStatus > 0 && outcome.ResponseStatus < 500 || outcome.Status == store.DeliveryRefused {
		r.waits = ""
		for _, name := range names {
			down, ok := o.outages[name]
			if !ok {
				continue
			}
			delete(o.outages, name)
			is.Ended, is.DownFor = true, time.Since(down.since)
			for _, other := range o.rows {
				if other.waits == name {
					other.waits, other.due = "", time.Now()
					if other.own.After(other.due) {
						other.due = other.own
					}
					is.Waiting++
				}
			}
		}
		return is
	}
	name := r.waits
	for _, known := range []string{names[store.HostDown], names[store.URLDown]} {
		if _, down := o.outages[known]; down && name == "" {
			name = known
		}
	}
	if outcome.Down != "" && (name == "" || outcome.Down == store.HostDown) {
		name = names[outcome.Down]
	}
	if name == "" || outcome.Status != store.DeliveryPending {
		return is
	}
	now := time.Now()
	if r.waits == "" {
		r.since = now
	}
	if now.Sub(r.since) >= maxWait {
		is.Status, r.waits = store.DeliveryFailed, ""
		return is
	}
	down, known := o.outages[name]
	switch {
	case !known:
		down = outage{since: now, probe: now.Add(5 * time.Second)}
		is.Began = true
	case r.waits == name:
		down.probe = now.Add(min(max(now.Sub(down.since)/10, 5*time.Second), 5*time.Minute))
	}
	o.outages[name], r.waits = down, name
	is.Down, is.Probe = true, time.Until(down.probe)
	return is
}

// hold makes a due row wait while its receiver is down, unless it is the probe.
func (o *outbox) hold(r *row, now time.Time) (held, probe bool) {
	name := r.waits
	for _, of := range []string{hostOf(r.URL), hostOf(r.URL) + "/" + r.URL} {
		if _, down := o.outages[of]; down && name == "" {
			name = of
		}
	}
	if name == "" || r.leased.After(now) || r.waits == "" && r.due.After(now) {
		return false, false
	}
	if r.waits == "" {
		r.waits, r.since, r.due = name, now, now.Add(maxWait)
	}
	if !r.due.After(now) { // it has waited long enough, and is tried once more
		return false, false
	}
	down := o.outages[name]
	if down.probe.After(now) {
		return true, false
	}
	down.probe = now.Add(30 * time.Second)
	o.outages[name] = down
	return false, true
}

// state reads a row under the lock.
func (o *outbox) state(r *row) row {
	o.mu.Lock()
	defer o.mu.Unlock()
	return *r
}

func (o *outbox) claimed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.claims
}
