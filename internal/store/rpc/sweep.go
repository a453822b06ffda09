package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// overdue is a store.Overdue in milliseconds.
type overdue struct {
	UnsentForMS    int64 `json:"unsent_for_ms"`
	StalledForMS   int64 `json:"stalled_for_ms"`
	UnstartedForMS int64 `json:"unstarted_for_ms"`
	AgainAfterMS   int64 `json:"again_after_ms"`
}

func overdueMS(o store.Overdue) overdue {
	return overdue{ms(o.UnsentFor), ms(o.StalledFor), ms(o.UnstartedFor), ms(o.AgainAfter)}
}

func (c *client) Sweep(ctx context.Context, o store.Overdue, limit int) (store.Swept, error) {
	var found store.Swept
	err := c.call(ctx, "aw_sweep", struct {
		tenantArg
		overdue
		Limit int `json:"limit"`
	}{c.tenant(), overdueMS(o), limit}, &found)
	for i := range found.Stalled {
		found.Stalled[i].Job = tidy(found.Stalled[i].Job)
	}
	return found, err
}

func (c *client) Resend(ctx context.Context, r store.Resend) (bool, error) {
	var answer struct {
		Recorded bool `json:"recorded"`
	}
	err := c.call(ctx, "aw_resend", struct {
		tenantArg
		overdue
		store.Resend
	}{c.tenant(), overdueMS(r.Overdue), r}, &answer)
	return answer.Recorded, err
}
