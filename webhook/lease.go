package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A short lease lets another worker send a dead worker's claims soon. It is renewed at a third of its length while the
// delivery is held or in flight, because a receiver may take as long as an attempt may.

// extend renews the leases of all claims, in the background.
func (r *round) extend() {
	if r.extending || len(r.flying)+len(r.held) == 0 {
		return
	}
	claims := make([]store.DeliveryClaim, 0, len(r.flying)+len(r.held))
	for _, c := range r.flying {
		claims = append(claims, c)
	}
	for _, h := range r.held {
		claims = append(claims, store.DeliveryClaim{ID: h.ID, Fence: h.Fence})
	}
	r.extending = true
	go func() { r.kept <- renewal{claims, r.renew(claims, r.Lease)} }()
}

// renewal is the answer to a renewal of leases.
type renewal struct {
	asked []store.DeliveryClaim
	kept  []string // nil: the store did not answer
}

// keep drops held deliveries whose lease was lost. Attempts in flight go on: their record is refused if another worker
// has the delivery.
func (r *round) keep(of renewal) {
	r.extending = false
	if of.kept == nil {
		return
	}
	r.held = slices.DeleteFunc(r.held, func(h held) bool {
		return slices.Contains(of.asked, store.DeliveryClaim{ID: h.ID, Fence: h.Fence}) &&
			!slices.Contains(of.kept, h.ID)
	})
}

// release gives back held deliveries, for others or for later.
func (r *round) release(which func(held) bool) {
	var claims []store.DeliveryClaim
	r.held = slices.DeleteFunc(r.held, func(h held) bool {
		if !which(h) {
			return false
		}
		claims = append(claims, store.DeliveryClaim{ID: h.ID, Fence: h.Fence})
		return true
	})
	if len(claims) > 0 {
		r.renew(claims, 0)
		r.look = true
	}
}

// renew returns the ids whose lease was renewed; nil: the store did not answer.
func (r *round) renew(claims []store.DeliveryClaim, lease time.Duration) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.attempts), settleTimeout)
	defer cancel()
	kept, err := r.Deliveries.ExtendDeliveries(ctx, claims, lease)
	if err != nil {
		r.Log.Warn("can't renew the claims of webhooks; some may be sent twice", "claims", len(claims), "error", err)
		return nil
	}
	if kept == nil {
		kept = []string{}
	}
	return kept
}
