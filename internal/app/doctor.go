package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
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
	CacheDir string        // of the worker of a tenant of the machine; empty: the worker is this user's

	Waiting func(groups []doctor.Group, timeout time.Duration) // see doctor.Worker; may be nil
}

// Doctor checks the services that the tenant's worker needs.
func Doctor(ctx context.Context, o DoctorOptions) doctor.Report {
	d := &opening{
		o: o, worker: doctor.Worker{
			Timeout: o.Timeout, NoCreate: o.NoCreate, Take: o.Take, Receivers: o.Webhooks, Waiting: o.Waiting,
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
	d.group(doctor.Privacy, config.Tenant|config.Worker, d.privacy)
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
