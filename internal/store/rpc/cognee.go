package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) OpenCognee(ctx context.Context) error {
	return c.run(ctx, "aw_open_cognee", struct{}{})
}

func (c *client) CloseCognee(ctx context.Context) (int, error) {
	removed, err := call[struct {
		Documents int `json:"documents"`
	}](ctx, c, "aw_close_cognee", struct{}{})
	return removed.Documents, err
}

// cogneeWork is the answer of aw_claim_cognee.
type cogneeWork struct {
	Documents []store.CogneeDocument `json:"documents"`
	Datasets  []struct {
		DocumentSet string `json:"document_set"`
		Fence       int64  `json:"fence"`
		DatasetID   string `json:"dataset_id"`
		Running     bool   `json:"running"`
		RunningFor  millis `json:"running_ms"`
		Attempts    int    `json:"attempts"`
		Changes     int    `json:"changes"`
	} `json:"datasets"`
	Down bool   `json:"down"`
	Next millis `json:"next_ms"`
}

func (c *client) ClaimCognee(ctx context.Context, claim store.CogneeClaim) (store.CogneeWork, error) {
	answer, err := call[cogneeWork](ctx, c, "aw_claim_cognee", struct {
		store.CogneeClaim
		Lease  millis `json:"lease_ms"`
		Quiet  millis `json:"quiet_ms"`
		Gather millis `json:"gather_ms"`
	}{claim, millis(claim.Lease), millis(claim.Quiet), millis(claim.Gather)})
	if err != nil {
		return store.CogneeWork{}, err
	}
	work := store.CogneeWork{Documents: answer.Documents, Down: answer.Down, Next: time.Duration(answer.Next)}
	for _, d := range answer.Datasets {
		work.Datasets = append(work.Datasets, store.CogneeDataset{
			DocumentSet: d.DocumentSet, Fence: d.Fence, DatasetID: d.DatasetID, Running: d.Running,
			RunningFor: time.Duration(d.RunningFor), Attempts: d.Attempts, Changes: d.Changes,
		})
	}
	return work, nil
}

func (c *client) ExtendCognee(
	ctx context.Context, held store.CogneeHeld, lease time.Duration,
) (store.CogneeKept, error) {
	return call[store.CogneeKept](ctx, c, "aw_extend_cognee", struct {
		store.CogneeHeld
		Lease millis `json:"lease_ms"`
	}{held, millis(lease)})
}

func (c *client) CogneeText(ctx context.Context, q store.CogneeTextQuery) (store.CogneeText, error) {
	return call[store.CogneeText](ctx, c, "aw_cognee_text", q)
}

// cogneeSettled is the answer of aw_settle_cognee and aw_settle_cognify.
type cogneeSettled struct {
	Status  string `json:"status"`
	Down    bool   `json:"down"`
	Began   bool   `json:"began"`
	Ended   bool   `json:"ended"`
	DownFor millis `json:"down_ms"`
	Probe   millis `json:"probe_ms"`
}

func (s cogneeSettled) settled() store.CogneeSettled {
	return store.CogneeSettled{
		Status: s.Status, Down: s.Down, Began: s.Began, Ended: s.Ended, DownFor: time.Duration(s.DownFor),
		Probe: time.Duration(s.Probe),
	}
}

// cogneeWaits are the durations of an outcome.
type cogneeWaits struct {
	NextAfter  millis `json:"next_after_ms"`
	FirstProbe millis `json:"probe_ms"`
	RetryAfter millis `json:"retry_after_ms"`
}

func (c *client) SettleCognee(ctx context.Context, o store.CogneeOutcome) (store.CogneeSettled, error) {
	var version *int // null: forgotten
	if o.Version > 0 {
		version = &o.Version
	}
	s, err := call[cogneeSettled](ctx, c, "aw_settle_cognee", struct {
		store.CogneeOutcome
		Version  *int   `json:"version"`
		Unlisted millis `json:"unlisted_ms,omitzero"`
		cogneeWaits
	}{o, version, millis(o.Unlisted), cogneeWaits{millis(o.NextAfter), millis(o.FirstProbe), millis(o.RetryAfter)}})
	return s.settled(), err
}

func (c *client) SettleCognify(ctx context.Context, o store.CognifyOutcome) (store.CogneeSettled, error) {
	s, err := call[cogneeSettled](ctx, c, "aw_settle_cognify", struct {
		store.CognifyOutcome
		cogneeWaits
	}{o, cogneeWaits{millis(o.NextAfter), millis(o.FirstProbe), millis(o.RetryAfter)}})
	return s.settled(), err
}

// cogneeState is the answer of aw_cognee_state.
type cogneeState struct {
	Enabled   bool                       `json:"enabled"`
	Since     *time.Time                 `json:"since"`
	DownSince *time.Time                 `json:"down_since"`
	LastError string                     `json:"last_error"`
	Pending   int                        `json:"pending"`
	Due       int                        `json:"due"`
	Oldest    millis                     `json:"oldest_ms"`
	Refused   int                        `json:"refused"`
	Failed    int                        `json:"failed"`
	Datasets  []store.CogneeDatasetState `json:"datasets"`
	Troubled  []store.CogneeTroubled     `json:"troubled"`
}

func (c *client) CogneeState(ctx context.Context) (store.CogneeState, error) {
	s, err := call[cogneeState](ctx, c, "aw_cognee_state", struct{}{})
	return store.CogneeState{
		Enabled: s.Enabled, Since: s.Since, DownSince: s.DownSince, LastError: s.LastError, Pending: s.Pending,
		Due: s.Due, Oldest: time.Duration(s.Oldest), Refused: s.Refused, Failed: s.Failed, Datasets: s.Datasets,
		Troubled: s.Troubled,
	}, err
}

func (c *client) RetryCognee(ctx context.Context) (store.CogneeRetried, error) {
	return call[store.CogneeRetried](ctx, c, "aw_retry_cognee", struct{}{})
}

func (c *client) CogneeIndex(ctx context.Context, after string, limit int) (store.CogneeIndex, error) {
	return call[store.CogneeIndex](ctx, c, "aw_cognee_index", struct {
		After string `json:"after"`
		Limit int    `json:"limit"`
	}{after, limit})
}

func (c *client) RequeueCognee(
	ctx context.Context, documents []store.CogneeItem, before time.Time,
) (int, error) {
	answer, err := call[struct {
		Queued int `json:"queued"`
	}](ctx, c, "aw_requeue_cognee", struct {
		Documents []store.CogneeItem `json:"documents"`
		Before    time.Time          `json:"before"`
	}{documents, before})
	return answer.Queued, err
}

func (c *client) CogneeGone(ctx context.Context, ids []string) ([]string, error) {
	return call[[]string](ctx, c, "aw_cognee_gone", struct {
		IDs []string `json:"ids"`
	}{ids})
}
