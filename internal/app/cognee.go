package app

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// cogneeClient is a client of the Cognee server of COGNEE_URL.
func cogneeClient(c config.CogneeServer) (*cognee.Client, error) {
	return cognee.New(cognee.Options{URL: c.URL, APIKey: c.APIKey.Reveal(), UserAgent: "async-worker/" + Version})
}

// openCognee makes the loop that sends documents to Cognee, if they are to be sent, and has the store note them: before
// the first task does.
func (t *Tenant) openCognee(ctx context.Context) error {
	if t.Config.Cognee.URL == "" {
		return nil
	}
	client, err := cogneeClient(t.Config.Cognee)
	if err != nil {
		return err
	}
	t.closers = append(t.closers, func() error { client.CloseIdle(); return nil })
	loop, err := cognee.NewLoop(cognee.Config{
		Store: t.Store, Client: client, ClientID: t.Config.ClientID, Worker: t.worker, Log: t.log,
		Lease: t.Config.LeaseTTL, Observe: t.metrics.Cognee,
	})
	if err != nil {
		return err
	}
	if err := t.Store.OpenCognee(ctx); err != nil {
		return fmt.Errorf("send documents to Cognee: %w", err)
	}
	t.metrics.WatchCognee(t.Store)
	t.cognee.Store(loop)
	return nil
}

// sendToCognee sends documents until ctx ends.
func (w *Worker) sendToCognee(ctx context.Context) {
	if l := w.tenant.cognee.Load(); l != nil {
		l.Run(ctx)
	}
}

// ReconcileCognee makes Cognee and the index equal. It needs config.Store and config.Cognee.
func (t *Tenant) ReconcileCognee(ctx context.Context, dryRun bool) (cognee.Reconciled, error) {
	client, err := cogneeClient(t.Config.Cognee)
	if err != nil {
		return cognee.Reconciled{}, err
	}
	defer client.CloseIdle()
	return cognee.Reconcile(ctx, t.Store, client, t.Config.ClientID, dryRun)
}
