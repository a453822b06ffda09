package app

import (
	"context"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	blobazure "github.com/seed-7227ef26/async-worker/internal/blob/azure"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/natsconn"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/store/supabase"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	queueazure "github.com/seed-7227ef26/async-worker/queue/azure"
	queuenats "github.com/seed-7227ef26/async-worker/queue/nats"
	queuepgmq "github.com/seed-7227ef26/async-worker/queue/pgmq"
	queuepostgres "github.com/seed-7227ef26/async-worker/queue/postgres"
)

func (t *Tenant) openQueues(ctx context.Context) error {
	service, err := t.backend().open(t, ctx)
	if err != nil {
		return &ServiceError{"open the queues", t.NextQueues(err), err}
	}
	t.closers = append(t.closers, service.Close)
	names := task.QueueNames(t.Config.ClientID)
	t.Queues = engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	return nil
}

func (t *Tenant) azureQueues(context.Context) (queue.Service, error) {
	creds, err := t.credentials()
	if err != nil {
		return nil, err
	}
	return queueazure.Open(creds, queueazure.Options{
		Concurrency: t.Config.Concurrency + queue.MaxBatch, OnRequest: t.metrics.QueueRequest,
	})
}

// natsQueues are subjects of one stream: that of the normal tasks, and it with .high, .low and .deadletter.
func (t *Tenant) natsQueues(context.Context) (queue.Service, error) {
	c, names := t.Config, task.QueueNames(t.Config.ClientID)
	return queuenats.Open(queuenats.Login{
		URL: c.NATS.URL.Reveal(), Credentials: c.NATS.Credentials.Reveal(),
		CA: c.NATS.CA, Cert: c.NATS.Cert, Key: c.NATS.Key.Reveal(),
	}, queuenats.Options{
		Subjects: map[string]string{
			names.Normal: c.NATS.Subject, names.High: c.NATS.Subject + ".high", names.Low: c.NATS.Subject + ".low",
			names.DeadLetter: c.NATS.Subject + ".deadletter",
		},
		Owner: c.ClientID, Lease: c.LeaseTTL, OnRequest: t.metrics.QueueRequest,
		OnConnection: func(up bool, err error) {
			if up {
				t.log.Info("connected to NATS")
				t.wakeForTasks()
				return
			}
			t.log.Warn("the connection to NATS is lost; connecting again", "error", err)
		},
		OnSharedInbox: func(err error) {
			t.log.Warn("NATS denies the tenant's inbox, so answers come to that of all users of the account; "+
				"allow it and restart (docs/nats.md)", "inbox", natsconn.Inbox(c.ClientID)+".>", "error", err)
		},
		OnRisk:    func(risk string) { t.log.Warn("NATS may lose or refuse tasks", "risk", risk) },
		OnMessage: t.wakeForTasks,
		OnDeaf: func(err error) {
			t.log.Warn("NATS denies the right to subscribe to the subjects of tasks; new tasks are found by polling",
				"error", err)
		},
	})
}

// queueConns are the connections for the queues, beside those of the store. A request takes a millisecond.
const queueConns = 4

// postgresQueues are in the store's database, and are reached as it is.
func (t *Tenant) postgresQueues(ctx context.Context) (queue.Service, error) {
	c := t.Config
	var caller rpc.Caller
	var err error
	if url := c.DatabaseURL.Reveal(); url != "" {
		caller, err = postgres.OpenCaller(ctx, url, postgres.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, MaxConns: queueConns,
		})
	} else {
		caller, err = supabase.OpenCaller(c.Supabase.URL, c.Supabase.Key.Reveal(), supabase.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, GatewayKey: c.Supabase.AnonKey.Reveal(),
		})
	}
	if err != nil {
		return nil, err
	}
	return queuepostgres.Open(caller, queuepostgres.Options{ClientID: c.ClientID, OnRequest: t.metrics.QueueRequest}), nil
}

func (t *Tenant) pgmqQueues(context.Context) (queue.Service, error) {
	return queuepgmq.Open(t.Config.DatabaseURL.Reveal(), queuepgmq.Options{
		OnRequest: t.metrics.QueueRequest,
		OnRisk:    func(risk string) { t.log.Warn("pgmq may lose tasks", "risk", risk) },
	})
}

// wakeForTasks is called by the queues when there are new tasks.
func (t *Tenant) wakeForTasks() {
	if wake := t.wake.Load(); wake != nil {
		(*wake)()
	}
}

// listenForTasks calls wake for new tasks until ctx is done: for each message that is put on a queue that tells of it,
// and on Azure and pgmq for each that was submitted by a process on the same database. Without a direct connection to the
// database only this process's own submissions and calls wake the worker; else it polls.
func (t *Tenant) listenForTasks(ctx context.Context, wake func()) {
	t.wake.Store(&wake)
	channel := t.backend().channel
	if channel == nil || !t.Config.DatabaseURL.IsSet() {
		return
	}
	postgres.KeepListening(ctx, t.Config.DatabaseURL.Reveal(), channel(t.Config.ClientID), wake, func(err error) {
		t.log.Warn("no notifications of new tasks; polling until they come again", "error", err)
	})
}

func (t *Tenant) openBucket(context.Context) error {
	if t.Config.BlobBackend == config.BlobDir {
		t.Bucket = dir.New(t.Config.BlobDir)
		return nil
	}
	creds, err := t.credentials()
	if err != nil {
		return &ServiceError{"open the container " + t.Config.Azure.Container, t.NextContainer(), err}
	}
	t.Bucket, err = blobazure.Open(creds, t.Config.Azure.Container,
		blobazure.Options{Concurrency: t.Config.Concurrency})
	if err != nil {
		return &ServiceError{"open the container " + t.Config.Azure.Container, t.NextContainer(), err}
	}
	return nil
}

// ContainerFault returns why the container of these settings can't be opened, such as an expired signature. It asks nobody.
func ContainerFault(cfg config.Config) error {
	return (&Tenant{Config: cfg}).openBucket(context.Background())
}

func (t *Tenant) credentials() (*storage.Credentials, error) {
	if s := t.Config.Azure.ConnectionString; s.IsSet() {
		return storage.FromConnectionString(s.Reveal())
	}
	return storage.FromIdentity(t.Config.Azure.Account)
}

func (t *Tenant) openStore(ctx context.Context) (err error) {
	c := t.Config
	url, setting := c.DatabaseURL.Reveal(), "DATABASE_URL"
	if url == "" {
		setting = "SUPABASE_URL"
	}
	unanswered := func(waited time.Duration) {
		t.log.Warn("the database has not answered yet", "waited", waited, "address", t.DatabaseAddress(), "setting", setting)
	}
	if url != "" {
		t.Store, err = postgres.Open(ctx, url, postgres.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, Dimensions: c.EmbeddingDimensions,
			MaxConns:     postgres.PoolFor(c.Concurrency),
			OnUnanswered: unanswered,
		})
	} else {
		t.Store, err = supabase.Open(c.Supabase.URL, c.Supabase.Key.Reveal(), supabase.Options{
			ClientID: c.ClientID, Schema: c.DBSchema, Dimensions: c.EmbeddingDimensions, OnUnanswered: unanswered,
			GatewayKey: c.Supabase.AnonKey.Reveal(),
		})
	}
	if err != nil {
		return &ServiceError{"open the store", t.NextDatabase(), err}
	}
	t.announce()
	return nil
}
