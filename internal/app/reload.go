package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// Reload applies settings that config.Reload has derived from the current ones: the models, the extractors, the
// engine's limits and waits, the webhooks, and what the API and the schedules use. Tasks that begin from now on get
// new handlers; running tasks keep theirs. On error nothing is changed. Calls must not overlap.
func (w *Worker) Reload(ctx context.Context, cfg config.Config) error {
	next := &Tenant{
		Config: cfg, Store: w.tenant.Store, Queues: w.tenant.Queues, Bucket: w.tenant.Bucket,
		log: w.tenant.log, worker: w.tenant.worker, counter: w.tenant.counter, metrics: w.tenant.metrics,
		accounts: w.tenant.accounts, pool: w.tenant.pool, fonts: w.tenant.fonts,
	}
	if err := w.takeOver(ctx, next); err != nil {
		return errors.Join(fmt.Errorf("apply the settings: %w", err), next.Close())
	}
	if err := w.replaced.Close(); err != nil { // idle connections that are no longer used
		w.tenant.log.Warn("can't close connections of the old settings", "error", err)
	}
	w.replaced = next
	return nil
}

func (w *Worker) takeOver(ctx context.Context, next *Tenant) error {
	if err := next.openModels(ctx); err != nil {
		return err
	}
	registry, err := next.registry(ctx, w.temp.path)
	if err != nil {
		return err
	}
	sender, err := newSender(next.Config, w.tracer)
	if err != nil {
		return err
	}
	if err := w.engine.Retune(engineConfig(next.Config, next.worker).Tuning(registry, next.probes())); err != nil {
		sender.Close()
		return err
	}
	w.sender.replace(sender)
	w.api.SetTokens(next.Config.API.Tokens)
	w.api.SetMaxBlob(next.Config.MaxBlobBytes)
	w.current.Store(next)
	return nil
}

// find searches with the models in force.
func (w *Worker) find(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
	return w.current.Load().Find(ctx, s, q)
}

// maxAttempts returns the attempts of a new job under the settings in force.
func (w *Worker) maxAttempts(what task.Type) int { return w.current.Load().maxAttempts(what) }

// senders sends webhooks with the current settings.
type senders struct {
	now atomic.Pointer[webhook.Sender]
}

// Send makes an attempt with the current sender.
func (s *senders) Send(ctx context.Context, d store.Delivery) webhook.Attempt {
	return s.now.Load().Send(ctx, d)
}

// replace swaps the sender. Attempts in flight finish with the previous one.
func (s *senders) replace(next *webhook.Sender) {
	if old := s.now.Swap(next); old != nil {
		old.Close()
	}
}

// Close closes the connections.
func (s *senders) Close() { s.now.Load().Close() }

func newSender(c config.Config, tracer *tracing.Tracer) (*webhook.Sender, error) {
	signer, err := webhook.NewSigner(c.Webhook.Secret.Reveal())
	if err != nil {
		return nil, err
	}
	return webhook.NewSender(webhook.SenderConfig{
		Signer: signer, Guard: webhook.NewGuard(c.Webhook.AllowCIDRs), UserAgent: "async-worker/" + Version,
		Tracer: tracer,
	}), nil
}

// engineConfig returns the engine's part of the settings.
func engineConfig(c config.Config, worker string) engine.Config {
	return engine.Config{
		ClientID: c.ClientID, Worker: worker, Concurrency: c.Concurrency, Lease: c.LeaseTTL,
		PollMin: c.PollMin, PollMax: c.PollMax, TaskTimeout: c.TaskTimeout, DrainMax: c.DrainMax,
		MaxAttempts: c.Retry.MaxAttempts, Backoff: c.Retry.Backoff, WaitMax: c.WaitMax, MaxReleases: c.WaitMaxReleases,
		ProbeFirst: map[taskerr.Dependency]time.Duration{taskerr.Gateway: gatewayProbed},
	}
}
