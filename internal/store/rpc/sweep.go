package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// sweepAges is a store.SweepAges as the functions take it.
type sweepAges struct {
	UnsentFor    millis `json:"unsent_for_ms"`
	StalledFor   millis `json:"stalled_for_ms"`
	UnstartedFor millis `json:"unstarted_for_ms"`
	AgainAfter   millis `json:"again_after_ms"`
}

func sweepAgesOf(o store.SweepAges) sweepAges {
	return sweepAges{millis(o.UnsentFor), millis(o.StalledFor), millis(o.UnstartedFor), millis(o.AgainAfter)}
}

func (c *client) Sweep(ctx context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	answer, err := call[struct {
		store.SweepAnswer
		DueIn millis `json:"due_in_ms"`
	}](ctx, c, "aw_sweep", struct {
		sweepAges
		Limit      int        `json:"limit"`
		SkipQueues []string   `json:"skip_queues,omitempty"`
		Stalled    bool       `json:"stalled"`
		After      store.Mark `json:"after,omitzero"`
	}{sweepAgesOf(o), limit, o.SkipQueues, !o.OnlyUnsent, o.After})
	found := answer.SweepAnswer
	found.DueIn = time.Duration(answer.DueIn)
	for i := range found.Stalled {
		found.Stalled[i].Job = tidy(found.Stalled[i].Job)
	}
	return found, err
}

func (c *client) Resend(ctx context.Context, r store.Resend) (bool, error) {
	answer, err := call[struct {
		Recorded bool `json:"recorded"`
	}](ctx, c, "aw_resend", struct {
		sweepAges
		store.Resend
	}{sweepAgesOf(r.Ages), r})
	return answer.Recorded, err
}
