package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/webhook"
)

func (d *opening) queues(cfg config.Config) {
	d.grants[storage.Queue] = backendOf(cfg.QueueBackend).grant(cfg)
	d.worker.Queues = func(ctx context.Context) ([]queue.Probing, error) {
		t, err := d.tenant(ctx, cfg, config.Queue)
		if err != nil {
			return nil, err
		}
		var all []queue.Probing
		for _, q := range []queue.Queue{t.Queues.High, t.Queues.Normal, t.Queues.Low, t.Queues.DeadLetter} {
			p, ok := q.(queue.Probing)
			if !ok {
				return nil, fmt.Errorf("queue %q does not support probing of rights; please report it", q.Name())
			}
			all = append(all, p)
		}
		return all, nil
	}
}

func (d *opening) clock(cfg config.Config) {
	service := storage.Queue
	if !backendOf(cfg.QueueBackend).signed {
		service = storage.Blob // the account may have no queues
		if cfg.BlobBackend != config.BlobAzure {
			d.worker.Skip[doctor.Clock] = "no request is signed with the time"
			return
		}
	}
	d.worker.StorageAt = func(ctx context.Context) (time.Time, error) {
		creds, err := (&Tenant{Config: cfg}).credentials()
		if err != nil {
			return time.Time{}, err
		}
		return creds.Clock(ctx, service)
	}
}

func (d *opening) container(cfg config.Config) {
	d.worker.Container = (&Tenant{Config: cfg}).ContainerName()
	d.grants[storage.Blob] = grantOfBlobs(cfg)
	d.worker.Bucket = func(ctx context.Context) (doctor.Bucket, error) {
		t, err := d.tenant(ctx, cfg, config.Blob)
		if err != nil {
			return nil, err
		}
		b, ok := t.Bucket.(doctor.Bucket)
		if !ok {
			return nil, errors.New("this kind of container does not support probing of rights; please report it")
		}
		return b, nil
	}
	if worker, err := d.o.Load(config.Tenant | config.Blob | config.Worker); err != nil {
		d.worker.NoSign = "the settings for it are wrong"
	} else {
		d.worker.Sign = worker.ExportURL
	}
	if cfg.BlobBackend == config.BlobDir && d.o.CacheDir != "" {
		const most = 2000 // files and folders
		d.worker.Folder = func(ctx context.Context) (string, error) { return dir.New(cfg.BlobDir).Denied(ctx, most) }
	}
}

func (d *opening) store(cfg config.Config) {
	d.worker.Vectors = cfg.EmbeddingDimensions
	if models, err := d.o.Load(config.Tenant | config.Models); err == nil {
		d.worker.Model = embeddingModel(models)
	}
	d.worker.NextDatabase = (&Tenant{Config: cfg}).NextDatabase()
	d.worker.Store = func(ctx context.Context) (store.Examiner, error) {
		t, err := d.tenant(ctx, cfg, config.Store)
		if err != nil {
			return nil, err
		}
		return t.Store, nil
	}
}

func (d *opening) models(cfg config.Config) {
	d.worker.Embedder = func(ctx context.Context) (llm.Embedder, error) {
		t, err := d.tenant(ctx, cfg, config.Models)
		if err != nil {
			return nil, err
		}
		return t.Embedder, nil
	}
	if cfg.LLMProvider != config.ProviderOffline {
		d.worker.Chat = func(context.Context) (llm.Chat, error) { return openChat(cfg, nil) }
	}
	if cfg.Contexts.Mode == config.ContextModel && cfg.LLMProvider != config.ProviderOffline {
		d.worker.Contexts = func(context.Context) (llm.Chat, error) { return openContexts(cfg, nil) }
	}
	d.pages()
	if cfg.Rerank.URL != "" {
		d.worker.Rater = func(ctx context.Context) error {
			rater, err := openRater(cfg)
			if err != nil {
				return err
			}
			return errors.Join(rater.Probe(ctx), rater.Close())
		}
	}
}

// pages fills in the model that reads pages. Wrong settings of extractors stop no check of the other models.
func (d *opening) pages() {
	cfg, err := d.o.Load(config.Tenant | config.Models | config.Extract)
	switch {
	case err != nil:
		d.worker.NoPages = "the settings for it are wrong"
	case cfg.OCREngine != config.OCROpenAI:
		d.worker.NoPages = "OCR_ENGINE is not openai"
	default:
		d.worker.Pages = func(ctx context.Context) error {
			chat, err := openai.NewChat(pageModel(cfg, 0))
			if err != nil {
				return err
			}
			return chat.Probe(ctx)
		}
	}
}

func (d *opening) privacy(cfg config.Config) {
	switch {
	case cfg.PII.Mode == config.PIIOff:
		d.worker.Skip[doctor.Privacy] = "PII_MODE is off"
	case cfg.PII.DetectorURL == "":
		d.worker.Skip[doctor.Privacy] = "PII_DETECTOR_URL is not set"
	default:
		d.worker.Detector = func(ctx context.Context) error {
			detector, err := openDetector(cfg)
			if err != nil {
				return err
			}
			return errors.Join(probeDetector(ctx, detector), detector.Close())
		}
		d.worker.Undetected = func(ctx context.Context) ([]string, error) {
			detector, err := openDetector(cfg)
			if err != nil {
				return nil, err
			}
			missing, err := notFound(ctx, detector, cfg.PII.Kinds)
			return missing, errors.Join(err, detector.Close())
		}
	}
}

func (d *opening) docling(cfg config.Config) {
	if cfg.Docling.URL == "" {
		d.worker.Skip[doctor.Docling] = "DOCLING_URL is not set"
		return
	}
	d.worker.Docling = func(ctx context.Context) error {
		client, err := DoclingClient(cfg, "", slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		defer client.CloseIdle()
		return client.Probe(ctx)
	}
}

func (d *opening) gateway(cfg config.Config) {
	if cfg.Gateway.URL == "" {
		d.worker.Skip[doctor.Gateway] = "GATEWAY_URL is not set"
		return
	}
	d.worker.Gateway = func(ctx context.Context) error {
		client, err := gatewayClient(cfg.Gateway, nil)
		if err != nil {
			return err
		}
		defer client.CloseIdle()
		return client.Probe(ctx)
	}
}

func (d *opening) events(cfg config.Config) {
	if !cfg.Events.URL.IsSet() {
		d.worker.Skip[doctor.Events] = "EVENTS_URL is not set"
		return
	}
	d.worker.Sink = func(ctx context.Context) error {
		sink, err := (&Tenant{Config: cfg, log: slog.New(slog.DiscardHandler)}).openSink(cfg.Events)
		if err != nil {
			return err
		}
		defer sink.Close()
		return sink.Probe(ctx)
	}
}

func (d *opening) cognee(cfg config.Config) {
	if cfg.Cognee.URL == "" {
		d.worker.Skip[doctor.Cognee] = "COGNEE_URL is not set"
		return
	}
	d.worker.Cognee = func(ctx context.Context) error {
		client, err := cogneeClient(cfg.Cognee)
		if err != nil {
			return err
		}
		defer client.CloseIdle()
		err = client.Probe(ctx)
		if e, ok := errors.AsType[*cognee.Error](err); ok && e.Status > 0 {
			return &taskerr.Error{Class: taskerr.DependencyUnavailable, Message: e.Error(), Cause: err}
		}
		return err
	}
	stored, err := d.o.Load(config.Tenant | config.Store | config.Schema)
	if err != nil {
		return
	}
	d.worker.CogneeState = func(ctx context.Context) (store.CogneeState, error) {
		t, err := d.tenant(ctx, stored, config.Store)
		if err != nil {
			return store.CogneeState{}, err
		}
		return t.Store.CogneeState(ctx)
	}
}

func (d *opening) webhooks(cfg config.Config) {
	if d.worker.Store == nil && len(d.o.Webhooks) == 0 {
		d.worker.Skip[doctor.Webhooks] = "without the store, give --webhook-url"
		return
	}
	guard := webhook.NewGuard(cfg.Webhook.AllowCIDRs)
	d.worker.Receiver = func(ctx context.Context, url string) (netip.AddrPort, error) {
		return webhook.Probe(ctx, guard,
			url)
	}
	d.worker.Refused = func(err error) bool {
		_, refused := errors.AsType[*webhook.RefusedError](err)
		return refused
	}
}
