package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// gatewayProbed is how old the last sign of life of the gateway may be when a task is started; else it is probed first.
const gatewayProbed = 10 * time.Second

// gatewayClient returns a client of the gateway at GATEWAY_URL. onCall is called at the end of each call; nil: it is not.
func gatewayClient(c config.Gateway, onCall func(result string, took time.Duration)) (*gateway.Client, error) {
	client, err := gateway.New(gateway.Options{
		URL: c.URL, Timeout: c.Timeout, HealthPath: c.HealthPath, MaxAnswer: c.MaxBytes, OnCall: onCall,
	})
	if err != nil {
		return nil, fmt.Errorf("use GATEWAY_URL: %w", err)
	}
	return client, nil
}

// invoices returns the dependencies of the handler of the task type xml.
func (t *Tenant) invoices(documents *extract.Router, web *source.Web, tempDir string) (xml.Deps, error) {
	c := t.Config
	d := xml.Deps{
		Bucket: t.Bucket, Web: web, Store: t.Store, Extractor: documents, Limits: t.limits(), TempDir: tempDir, Log: t.log,
		Concurrency: c.Gateway.Concurrency, Confidence: c.Gateway.Confidence,
		Window: t.Chat.Window, Counter: t.Chat.Counter, MaxTokens: c.MaxTaskTokens, ExtractorNeeds: extractorNeeds(c),
	}
	if !t.Chat.Offline() {
		d.Chat = t.Chat.Chat
	}
	if c.PII.Mode == config.PIIRedact {
		d.NoChecks = "PII_MODE=redact lets no document go to the model"
	}
	if c.Gateway.URL == "" {
		return d, nil
	}
	client, err := gatewayClient(c.Gateway, t.metrics.GatewayCall)
	if err != nil {
		return d, err
	}
	t.closers = append(t.closers, func() error { client.CloseIdle(); return nil })
	t.probe(taskerr.Gateway, client.Probe)
	d.Gateway = client
	return d, nil
}

// removeAnswer removes what is kept of an answer of the gateway.
func (t *Tenant) removeAnswer(ctx context.Context, a store.ExpiredAnswer) error {
	blobs := gateway.KeptBlobs(a.Key, a.Claim)
	if a.Blob != "" {
		blobs = append(blobs, a.Blob)
	}
	for _, name := range blobs {
		if err := t.Bucket.Remove(ctx, name); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return fmt.Errorf("remove an answer of the gateway: %w", err)
		}
	}
	return nil
}
