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

// outbox is the store's outbox in memory, with its semantics: leases, a fence that rises with each
// claim, due times. Its clock is time.Now, so it lives in a synctest bubble.
type outbox struct {
	mu     sync.Mutex
	rows   []*row
	claims int // calls of ClaimDeliveries

	failClaims, failSettles int  // that many calls fail
	loseAnswers             int  // that many settles are done, and fail all the same
	ignoreSkip              bool // as a store that does not know of SkipHosts
}

type row struct {
	store.Delivery
	status  string
	due     time.Time
	leased  time.Time // until
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

func (o *outbox) ClaimDeliveries(ctx context.Context, c store.Claim) (store.Claimed, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claims++
	if err := ctx.Err(); err != nil {
		return store.Claimed{}, err
	}
	if o.failClaims > 0 {
		o.failClaims--
		return store.Claimed{}, errDown
	}
	if c.Max < 1 || c.Max > 100 || c.Worker == "" || c.Lease <= 0 {
		return store.Claimed{}, errors.New("a claim out of its bounds")
	}
	now := time.Now()
	var claimed store.Claimed
	slices.SortStableFunc(o.rows, func(a, b *row) int { return a.due.Compare(b.due) })
	for _, r := range o.rows {
		if r.status != store.DeliveryPending {
			continue
		}
		at := r.due
		if r.leased.After(at) {
			at = r.leased
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
		claimed.Deliveries = append(claimed.Deliveries, r.Delivery)
	}
	return claimed, nil
}

func hostOf(url string) string { return strings.Split(url, "/")[2] }

func (o *outbox) SettleDelivery(ctx context.Context, outcome store.DeliveryOutcome) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.failSettles > 0 {
		o.failSettles--
		return errDown
	}
	for _, r := range o.rows {
		if r.ID != outcome.ID {
			continue
		}
		if r.Fence != outcome.Fence || r.status != store.DeliveryPending || r.leased.IsZero() {
			return store.ErrFenced
		}
		r.status, r.leased = outcome.Status, time.Time{}
		r.Attempts++
		r.history = append(r.history, outcome)
		if outcome.Status == store.DeliveryPending {
			r.due = time.Now().Add(outcome.NextAfter)
		} else {
			r.ended = time.Now()
		}
		if o.loseAnswers > 0 {
			o.loseAnswers--
			return errDown
		}
		return nil
	}
	return store.ErrNotFound
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
