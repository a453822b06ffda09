package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// claimed is the answer of aw_claim_deliveries.
type claimed struct {
	Deliveries []struct {
		ID       string `json:"id"`
		JobID    string `json:"job_id"`
		URL      string `json:"url"`
		Host     string `json:"host"`
		Body     string `json:"body"`
		Attempts int    `json:"attempts"`
		Fence    int64  `json:"fence"`
		Waiting  bool   `json:"waiting"`
		Once     bool   `json:"once"`

		TraceParent string `json:"traceparent"`
	} `json:"deliveries"`
	Next millis `json:"next_ms"`
	Due  int    `json:"due"`
}

func (c *client) ClaimDeliveries(ctx context.Context, claim store.Claim) (store.ClaimedDeliveries, error) {
	answer, err := call[claimed](ctx, c, "aw_claim_deliveries", struct {
		store.Claim
		Lease millis `json:"lease_ms"`
	}{claim, millis(claim.Lease)})
	if err != nil {
		return store.ClaimedDeliveries{}, err
	}
	found := store.ClaimedDeliveries{Next: time.Duration(answer.Next), Due: answer.Due}
	for _, d := range answer.Deliveries {
		found.Deliveries = append(found.Deliveries, store.Delivery(d))
	}
	return found, nil
}

// outbox is the answer of aw_outbox.
type outbox struct {
	Pending int    `json:"pending"`
	Due     int    `json:"due"`
	Oldest  millis `json:"oldest_ms"`
}

func (c *client) Outbox(ctx context.Context) (store.Outbox, error) {
	o, err := call[outbox](ctx, c, "aw_outbox", struct{}{})
	return store.Outbox{Pending: o.Pending, Due: o.Due, Oldest: time.Duration(o.Oldest)}, err
}

func (c *client) ExtendDeliveries(
	ctx context.Context, claims []store.DeliveryClaim, lease time.Duration,
) ([]string, error) {
	answer, err := call[struct {
		Kept []string `json:"kept"`
	}](ctx, c, "aw_extend_deliveries", struct {
		Claims []store.DeliveryClaim `json:"claims"`
		Lease  millis                `json:"lease_ms"`
	}{claims, millis(lease)})
	return answer.Kept, err
}

// receiver is the answer of aw_settle_delivery.
type receiver struct {
	Status  string `json:"status"`
	Down    bool   `json:"down"`
	Began   bool   `json:"began"`
	Ended   bool   `json:"ended"`
	Waiting int    `json:"waiting"`
	DownFor millis `json:"down_ms"`
	Probe   millis `json:"probe_ms"`
}

func (c *client) SettleDelivery(ctx context.Context, o store.DeliveryOutcome) (store.Receiver, error) {
	r, err := call[receiver](ctx, c, "aw_settle_delivery", struct {
		store.DeliveryOutcome
		NextAfter  millis `json:"next_after_ms"`
		RetryAfter millis `json:"retry_after_ms"`
		Latency    millis `json:"latency_ms"`
	}{o, millis(o.NextAfter), millis(o.RetryAfter), millis(o.Latency)})
	return store.Receiver{
		Status: r.Status, Down: r.Down, Began: r.Began, Ended: r.Ended, Waiting: r.Waiting,
		DownFor: time.Duration(r.DownFor), Probe: time.Duration(r.Probe),
	}, err
}

func (c *client) ListDeliveries(ctx context.Context, f store.DeliveryFilter) ([]store.DeliveryEntry, error) {
	return call[[]store.DeliveryEntry](ctx, c, "aw_list_deliveries", f)
}

func (c *client) ResendDelivery(ctx context.Context, r store.DeliveryResend) (store.DeliveryEntry, error) {
	return call[store.DeliveryEntry](ctx, c, "aw_resend_delivery", r)
}
