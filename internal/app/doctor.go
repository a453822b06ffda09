package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// DoctorOptions are what the doctor checks, and how.
type DoctorOptions struct {
	// Load reads the settings of some groups. A group with a wrong setting does not stop the checks of the others.
	Load     func(config.Group) (config.Config, error)
	Skip     []doctor.Group
	Webhooks []string      // URLs to try; empty: the hosts of the last jobs
	NoCreate bool          // queues and the container are not created
	Take     bool          // a waiting task is received and released at once
	Timeout  time.Duration // of one step; zero: doctor.DefaultTimeout
	EtcDir   string        // where tenants' files are; empty: /etc/async-worker
}

// Doctor checks the services that the tenant's worker needs.
func Doctor(ctx context.Context, o DoctorOptions) doctor.Report {
	d := &opening{
		o: o, worker: doctor.Worker{
			Timeout: o.Timeout, NoCreate: o.NoCreate, Take: o.Take, Receivers: o.Webhooks,
			Skip: map[doctor.Group]string{},
		},
		grants: map[storage.Service]grant{},
	}
	d.worker.Grant = func(r storage.Right, on string) string { return d.grants[r.Service](r, on) }
	defer d.close()
	cfg, err := o.Load(config.All)
	if err != nil {
		d.worker.Settings = problemsOf(err)
	}
	for _, w := range cfg.Warnings() {
		d.worker.Warnings = append(d.worker.Warnings, doctor.Problem(w))
	}
	for _, g := range o.Skip {
		d.worker.Skip[g] = "not requested"
	}
	d.group(doctor.Unit, config.Tenant, d.unit)
	d.group(doctor.Queues, config.Tenant|config.Queue, d.queues)
	d.group(doctor.Clock, config.Tenant|config.Queue|config.Blob, d.clock)
	d.group(doctor.Container, config.Tenant|config.Blob, d.container)
	d.group(doctor.Store, config.Tenant|config.Store|config.Schema, d.store)
	d.group(doctor.Models, config.Tenant|config.Models, d.models)
	d.group(doctor.Docling, config.Tenant|config.Extract, d.docling)
	d.group(doctor.Gateway, config.Tenant|config.Worker, d.gateway)
	d.group(doctor.Machine, config.Tenant|config.Extract|config.Worker, d.machine)
	d.group(doctor.Webhooks, config.Tenant|config.Webhooks, d.webhooks)
	d.group(doctor.Events, config.Tenant|config.Publish, d.events)
	d.group(doctor.Cognee, config.Tenant|config.Cognee, d.cognee)
	return doctor.Examine(ctx, d.worker)
}

func problemsOf(err error) (problems []doctor.Problem) {
	e, ok := errors.AsType[*config.Errors](err)
	if !ok {
		return []doctor.Problem{{Name: "settings", Problem: err.Error()}}
	}
	for _, p := range e.Problems {
		problems = append(problems, doctor.Problem(p))
	}
	return problems
}

// opening builds a doctor.Worker from settings. It closes what it opened when the doctor has finished.
type opening struct {
	o      DoctorOptions
	worker doctor.Worker
	grants map[storage.Service]grant // queues and blobs may be of different services

	mu   sync.Mutex
	open []*Tenant
}

// group fills in what a group of checks needs, unless the group is skipped or its settings are wrong.
func (d *opening) group(g doctor.Group, needs config.Group, give func(config.Config)) {
	if _, skipped := d.worker.Skip[g]; skipped {
		return
	}
	cfg, err := d.o.Load(needs)
	if err != nil {
		d.worker.Skip[g] = "the settings for it are wrong"
		return
	}
	d.worker.ClientID = cmp.Or(d.worker.ClientID, cfg.ClientID)
	give(cfg)
}

// tenant opens one service. It logs nothing: the doctor reports every failure.
func (d *opening) tenant(ctx context.Context, cfg config.Config, needs Needs) (*Tenant, error) {
	t, err := Open(ctx, cfg, slog.New(slog.DiscardHandler), needs)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = append(d.open, t)
	return t, nil
}

func (d *opening) close() {
	for _, t := range d.open {
		_ = t.Close() // nothing is lost
	}
}

func (d *opening) queues(cfg config.Config) {
	d.grants[storage.Queue] = grantOfQueues(cfg)
	d.worker.Queues = func(ctx context.Context) ([]queue.Probing, error) {
		t, err := d.tenant(ctx, cfg, config.Queue)
		if err != nil {
			return nil, err
		}
		var all []queue.Probing
		for _, q := range []queue.Queue{t.Queues.High, t.Queues.Normal, t.Queues.Low, t.Queues.DeadLetter} {
			p, ok := q.(queue.Probing)
			if !ok {
				return nil, fmt.Errorf("queue %q does not support probing of rights", q.Name())
			}
			all = append(all, p)
		}
		return all, nil
	}
}

func (d *opening) clock(cfg config.Config) {
	service := storage.Queue
	if cfg.QueueBackend != config.QueueAzure {
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
			return nil, errors.New("this kind of container does not support probing of rights")
		}
		return b, nil
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

func (d *opening) machine(cfg config.Config) {
	m := &d.worker.Machine
	m.TempDir = cmp.Or(cfg.CacheDir, os.TempDir())
	m.NeedBytes = int64(cfg.Concurrency) * cfg.MaxBlobBytes
	m.Programs = []string{"pdfinfo", "pdftotext", "pdftohtml", "pdftoppm", "pdfimages", "pdfdetach"}
	m.Run = func(ctx context.Context, program string) error {
		result, err := child.Run(ctx, child.Command{Program: program, Package: "poppler-utils", Args: []string{"-v"}})
		const shown = 99 // pdfdetach's exit code after it showed its version
		if err == nil && !result.OK() && (result.End != child.Exited || result.ExitCode != shown) {
			err = fmt.Errorf("failed to run (%s, exit code %d)", result.End, result.ExitCode)
		}
		return err
	}
	m.Office = soffice.Missing
	c := child.Confine()
	m.Sandbox = doctor.Sandbox{Landlock: c.Landlock, Without: c.NoLandlock, NoSeccomp: c.NoSeccomp}
	if cfg.OCREngine == config.OCRTesseract {
		m.Tesseract = func(ctx context.Context) (string, []string, error) {
			e, err := tesseract.Open(ctx, tesseract.Options{})
			if err != nil {
				return "", nil, err
			}
			return e.Version(), e.Languages(), nil
		}
	}
}

// unit fills in where packaging and `tenant add` put a tenant's files.
func (d *opening) unit(cfg config.Config) {
	etc := cmp.Or(d.o.EtcDir, "/etc/async-worker")
	d.worker.Unit = doctor.Instance{
		Unit:        "async-worker@" + cfg.ClientID + ".service",
		EnvFile:     filepath.Join(etc, cfg.ClientID+".env"),
		Credentials: filepath.Join(etc, "credentials", cfg.ClientID),
	}
	if group, err := user.LookupGroup(tenants.Operators); err == nil {
		d.worker.Unit.Operators = group.Gid
	}
	d.worker.Unit.Enabled = func(ctx context.Context) (string, error) {
		if _, err := os.Stat("/run/systemd/system"); err != nil {
			return "", nil //nolint:nilerr // no systemd, as in sd_booted(3)
		}
		var answer strings.Builder
		_, err := child.Run(ctx, child.Command{
			Program: "systemctl", Package: "systemd", Args: []string{"is-enabled", d.worker.Unit.Unit},
			Trusted: true, // it needs the service manager's socket
			Stdout: func(r io.Reader) error {
				_, err := io.Copy(&answer, io.LimitReader(r, 1<<10))
				return err
			},
		})
		return cmp.Or(strings.TrimSpace(answer.String()), "not known to systemd"), err
	}
}
