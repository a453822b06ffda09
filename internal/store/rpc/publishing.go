package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) OpenPublisher(ctx context.Context) error {
	return c.run(ctx, "aw_open_publisher", struct{}{})
}

func (c *client) ClaimPublisher(
	ctx context.Context, worker string, lease time.Duration,
) (store.PublisherClaim, error) {
	a, err := call[struct {
		Held   bool   `json:"held"`
		Fence  int64  `json:"fence"`
		Lost   int64  `json:"lost"`
		Reset  bool   `json:"reset"`
		Worker string `json:"worker"`
		Wait   millis `json:"wait_ms"`
	}](ctx, c, "aw_claim_publisher", struct {
		Worker string `json:"worker"`
		Lease  millis `json:"lease_ms"`
	}{worker, millis(lease)})
	return store.PublisherClaim{
		Held: a.Held, Fence: a.Fence, Lost: a.Lost, Reset: a.Reset, Worker: a.Worker, Wait: time.Duration(a.Wait),
	}, err
}

func (c *client) Outgoing(ctx context.Context, q store.OutgoingQuery) (store.OutgoingPage, error) {
	page, err := call[store.OutgoingPage](ctx, c, "aw_outgoing", struct {
		Fence  int64  `json:"fence"`
		Lease  millis `json:"lease_ms"`
		Limit  int    `json:"limit"`
		Bytes  int    `json:"max_bytes"`
		Result int    `json:"max_result_bytes"`
	}{q.Fence, millis(q.Lease), q.Limit, q.Bytes, q.Result})
	for i := range page.Events {
		page.Events[i].Result = orNil(page.Events[i].Result)
	}
	return page, err
}

func (c *client) Published(ctx context.Context, p store.Published) error {
	return c.run(ctx, "aw_published", struct {
		store.Published
		Lease millis `json:"lease_ms"`
	}{p, millis(p.Lease)})
}

func (c *client) PublisherState(ctx context.Context) (store.PublisherState, error) {
	s, err := call[struct {
		Exists    bool   `json:"exists"`
		Held      bool   `json:"held"`
		Worker    string `json:"worker"`
		Published int64  `json:"published"`
		Refused   int64  `json:"refused"`
		Lost      int64  `json:"lost"`
		Behind    int    `json:"behind"`
		Oldest    millis `json:"oldest_ms"`
	}](ctx, c, "aw_publisher_state", struct{}{})
	return store.PublisherState{
		Exists: s.Exists, Held: s.Held, Worker: s.Worker, Published: s.Published, Refused: s.Refused, Lost: s.Lost,
		Behind: s.Behind, Oldest: time.Duration(s.Oldest),
	}, err
}
