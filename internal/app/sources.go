package app

import (
	"github.com/seed-7227ef26/async-worker/internal/children"
	"github.com/seed-7227ef26/async-worker/internal/source"
)

// openWeb returns what fetches documents of the web for the handlers.
func (t *Tenant) openWeb() *source.Web {
	web := source.NewWeb(source.WebConfig{
		Allow: t.Config.SourceAllowCIDRs, UserAgent: "async-worker/" + Version,
	})
	t.closers = append(t.closers, func() error {
		web.Close()
		return nil
	})
	return web
}

// children returns what submits jobs for a running one. Its jobs take half of the room at most: the API refuses
// everybody's when the queues are full.
func (t *Tenant) children() children.Submitter {
	return children.Submitter{
		Store: t.Store, Bucket: t.Bucket, Queue: t.Queues.For, MaxAttempts: t.maxAttempts,
		Most: max(t.Config.API.HighWatermark/2, 1),
	}
}
