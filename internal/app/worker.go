package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
	"github.com/seed-7227ef26/async-worker/internal/upkeep"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// Worker is a tenant's daemon.
type Worker struct {
	tenant *Tenant
	engine *engine.Engine
	sender *senders
	outbox *webhook.Loop
	http   *httpd.Server
	api    *api.API
	pages  *dashboard.Dashboard
	// current has the settings and models in force: those of the last reload, or of the start. What outlives a reload
	// asks it at each use.
	current atomic.Pointer[Tenant]
	temp    *tempDir
	tracer  *tracing.Tracer // nil: no spans are made
	// replaced owns what the last reload opened; it is empty before the first.
	replaced *Tenant
	started  time.Time
	rest     *rest
	// schedules makes them be looked at now.
	schedules chan struct{}
	// leftovers makes chunks be removed that commits have left.
	leftovers chan struct{}
}

// registry builds the handlers of all task types for this tenant.
func (t *Tenant) registry(ctx context.Context, tempDir string) (handlers.Registry, error) {
	blobs := ""
	if t.Config.BlobBackend == config.BlobDir {
		blobs = t.Config.BlobDir
	}
	if blobs != "" && readOnly(ctx, blobs) {
		t.log.Warn("BLOB_DIR can't be written: tasks that write results fail; others are done", "folder", blobs, "hint",
			"let the unit write it (ReadWritePaths= in a drop-in), and its user (docs/postgres-queue.md); then restart the worker")
		blobs = ""
	}
	t.probe(taskerr.Machine, machineProbe(tempDir, blobs))
	reader, noOCR, err := t.openReader(ctx, tempDir)
	if err != nil {
		return nil, err
	}
	if noOCR != nil {
		t.log.Warn("no OCR: pages without text stay unread, and ocr tasks of page images fail", "reason",
			noOCR)
	}
	filter, err := t.openPrivacy(ctx)
	if err != nil {
		return nil, err
	}
	router := extractors(reader, noOCR)
	documents, err := t.withDocling(router, tempDir)
	if err != nil {
		return nil, err
	}
	web := t.openWeb()
	invoices, err := t.invoices(documents, web, tempDir)
	if err != nil {
		return nil, err
	}
	all, err := newRegistry(handlerDeps{
		xml:     invoices,
		answers: t.answers(),
		ingest: ingest.Deps{
			Bucket: t.Bucket, Web: web, Extractor: documents, Documents: t.Store, Embedder: t.Embedder,
			Sources: t.Store, Children: t.children(),
			Written: t.metrics.Ingested, Contexts: t.newContexts(),
			Counter: t.counter, Limits: t.limits(), Privacy: filter, TempDir: tempDir,
			ExtractorNeeds: extractorNeeds(t.Config),
			KeptUnder:      func(sha256 string) []string { return []string{doclingBlob(sha256)} },
		},
		ocr: ocr.Deps{
			Bucket: t.Bucket, Web: web, Store: t.Store, Reader: reader, NoEngine: noOCR, Extractor: router, Limits: t.limits(),
			TempDir: tempDir,
		},
		summarize: t.summarizeDeps(documents, filter, web, tempDir),
		convert:   t.convertDeps(documents, filter, web, tempDir), export: t.exportDeps(tempDir),
	})
	if most := t.Config.OCR.MaxTokens; most > 0 && t.Config.OCREngine == config.OCROpenAI {
		limitTokens(all, most)
	}
	return all, err
}

func (t *Tenant) limits() extract.Limits {
	limits := extract.DefaultLimits
	limits.Bytes = t.Config.MaxBlobBytes
	limits.Pool = t.pool
	return limits
}

// NewWorker builds the daemon, creates queues and a container that are missing, and checks the store. It waits for
// services that are down, for StartMax at most. The tenant must have been opened for Everything.
func (t *Tenant) NewWorker(ctx context.Context) (*Worker, error) {
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	t.warnOfSandbox()
	t.warnOfFormerQueues(ctx)
	t.warnOfMemory(groupLimit(selfGroup, groups))
	w := &Worker{
		tenant: t, sender: &senders{}, replaced: &Tenant{}, started: time.Now(), rest: newRest(t.metrics),
		schedules: make(chan struct{}, 1), leftovers: make(chan struct{}, 1),
	}
	w.current.Store(t)
	var err error
	t.sweepTemp()
	if w.temp, err = newTempDir(t.Config.CacheDir); err != nil {
		return nil, fmt.Errorf("make a folder for temporary files: %w", err)
	}
	if err := w.build(ctx); err != nil {
		w.clean()
		return nil, err
	}
	return w, nil
}

func (w *Worker) build(ctx context.Context) error {
	t := w.tenant
	var err error
	if w.tracer, err = tracing.Open(ctx, tracing.Options{
		Endpoint: t.Config.Tracing.Endpoint, Headers: t.Config.Tracing.Headers.Reveal(),
		ClientID: t.Config.ClientID, Version: Version, Worker: t.worker, Queues: t.Config.QueueBackend,
		Log: t.log,
	}); err != nil {
		return err
	}
	if err := w.buildOutbox(); err != nil {
		return err
	}
	if err := t.openPublisher(ctx); err != nil {
		return err
	}
	if err := t.openCognee(ctx); err != nil {
		return err
	}
	registry, err := t.registry(ctx, w.temp.path)
	if err != nil {
		return err
	}
	cfg := engineConfig(t.Config, t.worker)
	cfg.SweepEvery = t.SweepEvery
	w.engine, err = engine.New(cfg, engine.Deps{
		Probes: t.probes(),
		Queues: t.Queues, Billed: t.backend().billed, Store: t.Store, Bucket: t.Bucket, Handlers: registry,
		Observer: leftovers{w.rest, w.leftovers},
		Outbox:   w.outbox.Wake, WebhooksDue: w.outbox.Due, Log: t.log,
		Tracer: w.tracer,
	})
	if err != nil {
		return err
	}
	w.watch()
	return w.listen(ctx)
}

func (w *Worker) buildOutbox() error {
	t := w.tenant
	sender, err := newSender(t.Config, w.tracer)
	if err != nil {
		return err
	}
	w.sender.replace(sender)
	w.outbox, err = webhook.NewLoop(webhook.Config{
		Deliveries: t.Store, Sender: w.sender, Worker: t.worker, Log: t.log, Observe: t.metrics.Webhook,
		Lease: t.Config.LeaseTTL,
	})
	return err
}

// nextRestart is the remedy for a part of the worker that has ended.
const nextRestart = "restart the worker, and report it: the log before this line and its error tell why"

// Run works until ctx is done, drains, and delivers the webhooks that are due.
func (w *Worker) Run(ctx context.Context) error {
	defer w.clean()
	defer w.closeReplaced()
	defer w.sender.Close()
	defer w.flush(ctx)
	w.tenant.log.Info("working", "worker", w.tenant.worker,
		"concurrency", w.tenant.Config.Concurrency, "model", w.tenant.Embedder.Model())
	delivering, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var loops sync.WaitGroup
	loops.Go(func() {
		if err := w.outbox.Run(delivering); err != nil {
			w.tenant.log.Error("the webhook loop failed; webhooks are not sent until a restart", "error", err, "hint", nextRestart)
		}
	})
	loops.Go(func() { // also in the drain
		defer w.api.Close()
		if err := w.http.Run(delivering); err != nil {
			w.tenant.log.Error("the HTTP server failed; no health and metrics until a restart", "error", err, "hint", nextRestart)
		}
	})
	loops.Go(func() { w.tenant.listenForTasks(ctx, w.engine.Wake) })
	loops.Go(func() { w.publish(delivering) })
	loops.Go(func() { w.fireSchedules(delivering) })
	loops.Go(func() { w.sendToCognee(delivering) })
	loops.Go(func() { w.showStatus(delivering) })
	loops.Go(func() { w.feedWatchdog(delivering) })
	loops.Go(func() { w.rest.run(delivering, w.released(trim), w.released(trimProgram)) })
	loops.Go(func() {
		s := w.tenant.Store
		upkeep.Run(ctx, w.tenant.log, upkeep.Documents(s, w.tenant.Config.VersionKeep), upkeep.Chunks(s, w.leftovers), upkeep.Readings(s),
			upkeep.Partials(s), upkeep.Keys(s), upkeep.Events(s, w.tenant.Config.Events.Keep, w.tenant.eventsLost),
			upkeep.Deliveries(s, w.tenant.Config.DeliveriesKeep), upkeep.Jobs(s, w.tenant.Config.JobsKeep),
			upkeep.Answers(s, w.tenant.removeAnswer), upkeep.Messages(s, w.tenant.Bucket, w.tenant.Config.JobsKeep))
	})
	err := w.engine.Run(ctx)
	stop() // attempts in flight finish; the rest stays in the outbox
	loops.Wait()
	w.tenant.log.Info("stopped", event.Key, event.Stopped)
	return err
}

// Abort ends a drain at once: running tasks are released for other workers.
func (w *Worker) Abort() { w.engine.Abort() }

// Wake makes the worker poll its queues now.
func (w *Worker) Wake() { w.engine.Wake() }

// flush sends the last spans. A collector that does not answer delays the exit by a few seconds at most.
func (w *Worker) flush(ctx context.Context) {
	if err := w.tracer.Close(ctx); err != nil {
		w.tenant.log.Warn("spans are lost", "error", err)
	}
}

func (w *Worker) closeReplaced() {
	if err := w.replaced.Close(); err != nil {
		w.tenant.log.Warn("can't close connections", "error", err)
	}
}

func (w *Worker) clean() {
	if err := w.temp.remove(); err != nil {
		w.tenant.log.Warn("can't remove the folder for temporary files", "error", err)
	}
}
