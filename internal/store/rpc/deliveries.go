package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) ClaimDeliveries(ctx context.Context, claim store.Claim) (store.Claimed, error) {
	var answer struct {
		Deliveries []struct {
			ID       string `json:"id"`
			JobID    string `json:"job_id"`
			URL      string `json:"url"`
			Body     string `json:"body"`
			Attempts int    `json:"attempts"`
			Fence    int64  `json:"fence"`
			Waiting  bool   `json:"waiting"`

			TraceParent string `json:"traceparent"`
		} `json:"deliveries"`
		NextMS int64 `json:"next_ms"`
		Due    int   `json:"due"`
	}
	err := c.call(ctx, "aw_claim_deliveries", struct {
		tenantArg
		store.Claim
		LeaseMS int64 `json:"lease_ms"`
	}{c.tenant(), claim, ms(claim.Lease)}, &answer)
	if err != nil {
		return store.Claimed{}, err
	}
	claimed := store.Claimed{Next: time.Duration(answer.NextMS) * time.Millisecond, Due: answer.Due}
	for _, d := range answer.Deliveries {
		claimed.Deliveries = append(claimed.Deliveries, store.Delivery(d))
	}
	return claimed, nil
}

func (c *client) Outbox(ctx context.Context) (store.Outbox, error) {
	var answer struct {
		Pending  int   `json:"pending"`
		Due      int   `json:"due"`
		OldestMS int64 `json:"oldest_ms"`
	}
	err := c.call(ctx, "aw_outbox", c.tenant(), &answer)
	return store.Outbox{
		Pending: answer.Pending, Due: answer.Due, Oldest: time.Duration(answer.OldestMS) * time.Millisecond,
	}, err
}

func (c *client) ExtendDeliveries(
	ctx context.Context, claims []store.DeliveryClaim, lease time.Duration,
) ([]string, error) {
	var answer struct {
		Kept []string `json:"kept"`
	}
	err := c.call(ctx, "aw_extend_deliveries", struct {
		tenantArg
		Claims  []store.DeliveryClaim `json:"claims"`
		LeaseMS int64                 `json:"lease_ms"`
	}{c.tenant(), claims, ms(lease)}, &answer)
	return answer.Kept, err
}

func (c *client) SettleDelivery(ctx context.Context, o store.DeliveryOutcome) (store.Receiver, error) {
	var answer struct {
		Status  string `json:"status"`
		Down    bool   `json:"down"`
		Began   bool   `json:"began"`
		Ended   bool   `json:"ended"`
		Waiting int    `json:"waiting"`
		DownMS  int64  `json:"down_ms"`
		ProbeMS int64  `json:"probe_ms"`
	}
	err := c.call(ctx, "aw_settle_delivery", struct {
		tenantArg
		store.DeliveryOutcome
		NextAfterMS  int64 `json:"next_after_ms"`
		RetryAfterMS int64 `json:"retry_after_ms"`
		LatencyMS    int64 `json:"latency_ms"`
	}{c.tenant(), o, ms(o.NextAfter), ms(o.RetryAfter), ms(o.Latency)}, &answer)
	return store.Receiver{
		Status: answer.Status, Down: answer.Down, Began: answer.Began, Ended: answer.Ended, Waiting: answer.Waiting,
		DownFor: time.Duration(answer.DownMS) * time.Millisecond,
		Probe:   time.Duration(answer.ProbeMS) * time.Millisecond,
	}, err
}

func (c *client) ListDeliveries(ctx context.Context, f store.DeliveryFilter) ([]store.DeliveryEntry, error) {
	var found []store.DeliveryEntry
	err := c.call(ctx, "aw_list_deliveries", struct {
		tenantArg
		store.DeliveryFilter
	}{c.tenant(), f}, &found)
	return found, err
}

func (c *client) ResendDelivery(ctx context.Context, r store.DeliveryResend) (store.DeliveryEntry, error) {
	var d store.DeliveryEntry
	err := c.call(ctx, "aw_resend_delivery", struct {
		tenantArg
		store.DeliveryResend
	}{c.tenant(), r}, &d)
	return d, err
}
