package app

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/events"
	eventshttp "github.com/seed-7227ef26/async-worker/internal/events/http"
	eventsnats "github.com/seed-7227ef26/async-worker/internal/events/nats"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

// maxPublisherLease bounds how long events wait when their publisher was lost.
const maxPublisherLease = 30 * time.Second

// openSink opens where lifecycle events go.
func (t *Tenant) openSink(c config.Events) (events.Sink, error) {
	if c.NATS() {
		return eventsnats.New(eventsnats.Options{
			URL: c.URL.Reveal(), Key: c.Key.Reveal(), Owner: t.Config.ClientID, Log: t.log,
		})
	}
	return eventshttp.New(eventshttp.Options{
		URL: c.URL.Reveal(), Key: c.Key.Reveal(), UserAgent: "async-worker/" + Version,
	})
}

// openPublisher makes the publisher of lifecycle events, if there is to be one, and notes where it begins: before the
// first task does.
func (t *Tenant) openPublisher(ctx context.Context) error {
	if !t.Config.Events.URL.IsSet() {
		return nil
	}
	sink, err := t.openSink(t.Config.Events)
	if err != nil {
		return fmt.Errorf("publish events: %w", err)
	}
	t.closers = append(t.closers, func() error { sink.Close(); return nil })
	cfg := events.Config{
		Store: t.Store, Sink: sink, ClientID: t.Config.ClientID, Worker: t.worker, Log: t.log,
		Lease: min(t.Config.LeaseTTL, maxPublisherLease), Observe: t.metrics.Events,
	}
	if url := t.Config.DatabaseURL.Reveal(); url != "" {
		cfg.Listen = func(ctx context.Context, woken func()) error {
			return postgres.Listen(ctx, url, postgres.FeedChannel(t.Config.ClientID), func([]string) { woken() })
		}
	}
	publisher, err := events.New(cfg)
	if err != nil {
		return err
	}
	if err := t.Store.OpenPublisher(ctx); err != nil {
		return fmt.Errorf("publish events: %w", err)
	}
	t.metrics.WatchPublisher(t.Store)
	t.publisher.Store(publisher)
	return nil
}

// wakeLoops tells the loops that send what jobs have written that this process has written something.
func (t *Tenant) wakeLoops() {
	if p := t.publisher.Load(); p != nil {
		p.Wake()
	}
	if l := t.cognee.Load(); l != nil {
		l.Wake()
	}
}

// publish publishes events until ctx ends.
func (w *Worker) publish(ctx context.Context) {
	if p := w.tenant.publisher.Load(); p != nil {
		p.Run(ctx)
	}
}

// eventsLost reports events that were removed before they were published. Without EVENTS_URL nobody misses them.
func (t *Tenant) eventsLost(n int) {
	if n == 0 || t.publisher.Load() == nil {
		return
	}
	t.metrics.EventsLost(n)
	t.log.Warn("events were removed before they were published (EVENTS_KEEP_DAYS)", "events", n,
		event.Key, event.EventsLost)
}
