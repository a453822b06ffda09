package app

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

// NewFeed returns a feed of the tenant's events. It needs config.Store; the caller must close it.
func (t *Tenant) NewFeed() *feed.Feed {
	cfg := feed.Config{Store: t.Store, Log: t.log, Keep: t.Config.Events.Keep}
	if url := t.Config.DatabaseURL.Reveal(); url != "" {
		cfg.Listen = func(ctx context.Context, woken func([]string)) error {
			return postgres.Listen(ctx, url, postgres.FeedChannel(t.Config.ClientID), woken)
		}
	}
	return feed.New(cfg)
}

// announce makes the store announce the events that it writes, to the tenant's feed in this process, and to other
// processes, if these can be notified.
func (t *Tenant) announce() {
	t.Feed = t.NewFeed()
	t.Store = feed.Announce(t.Store, t.Feed, feed.Audience{
		Others: t.Config.DatabaseURL.IsSet(), Workers: t.tellsWorkers(), Written: t.wakeLoops, Sent: t.wakeForTasks,
	})
	t.closers = append(t.closers, func() error { t.Store.Close(); t.Feed.Close(); return nil })
}
