package devstack

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// startTimeout bounds the start of a part, on a slow and busy machine.
const startTimeout = 2 * time.Minute

var errStartTimeout = errors.New("it took too long")

// start starts all parts, in the order of their dependencies.
func (d *dev) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Minute, errStartTimeout) // npm may download packages
	defer cancel()
	d.home.removeEnv() // of a killed run
	d.env = modelSettings(d.Environ)
	switch d.Backend {
	case BackendPostgres:
		return inOrder(ctx, d.startPostgres, d.startReceiver, d.startGateway, d.startWorker)
	case BackendNATS:
		return inOrder(ctx, d.startPostgres, d.startNATS, d.startReceiver, d.startGateway, d.startWorker)
	}
	if err := d.install(ctx); err != nil {
		return err
	}
	both, ctxBoth := errgroup.WithContext(ctx)
	both.Go(func() error { return d.startAzurite(ctxBoth) })
	both.Go(func() error { return d.startDatabase(ctxBoth) })
	if err := both.Wait(); err != nil {
		return err
	}
	d.env["AZURE_STORAGE_CONNECTION_STRING"] = d.azure
	return inOrder(ctx, d.startAPI, d.startReceiver, d.startGateway, d.startWorker)
}

func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startPostgres starts the one service of BackendPostgres, and the store of BackendNATS.
func (d *dev) startPostgres(ctx context.Context) error {
	if err := checkPoppler(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errStartTimeout)
	defer cancel()
	log, err := d.home.log("postgres")
	if err != nil {
		return err
	}
	postgres, err := stack.StartPostgres(ctx, stack.PostgresOptions{Log: log, Durable: true})
	if err != nil {
		return err
	}
	d.parts.add("postgres", postgres.Stop)
	d.database = postgres.URL("postgres")
	what := "jobs, queues and vectors"
	if d.Backend == BackendNATS {
		what = "jobs and vectors"
	}
	d.out.done("postgres", what)
	d.env["DATABASE_URL"], d.env["QUEUE_BACKEND"] = d.database, "postgres"
	documents := filepath.Join(d.home.data, "documents")
	if err := os.MkdirAll(documents, 0o750); err != nil {
		return err
	}
	d.env["BLOB_BACKEND"], d.env["BLOB_DIR"] = "dir", documents
	return d.migrate(ctx)
}

// startNATS starts a nats-server with a token, which keeps other users of the machine out.
func (d *dev) startNATS(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errStartTimeout)
	defer cancel()
	log, err := d.home.log("nats")
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(d.home.tmp, "nats-")
	if err != nil {
		return err
	}
	configuration, token := stack.Token()
	server, err := stack.StartNATS(ctx, stack.NATSOptions{
		Program: d.NATS, Folder: folder, Log: log, Configuration: configuration,
	})
	if err != nil {
		return err
	}
	d.parts.watch("nats", server, server.Stop)
	d.env["QUEUE_BACKEND"], d.env["NATS_URL"] = "nats", strings.Replace(server.URL, "://", "://"+token, 1)
	d.out.done("nats", "queues, in JetStream")
	return nil
}

func (d *dev) startAzurite(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errStartTimeout)
	defer cancel()
	log, err := d.home.log("azurite")
	if err != nil {
		return err
	}
	azurite, err := stack.StartAzurite(ctx, stack.AzuriteOptions{
		Root: d.home.root, Folder: filepath.Join(d.home.data, "azurite"), Log: log,
	})
	if err != nil {
		return err
	}
	d.parts.watch("azurite", azurite, azurite.Stop)
	d.azure = azurite.ConnectionString
	d.out.done("azurite", "queues and blobs of Azure Storage")
	return nil
}

func (d *dev) startDatabase(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errStartTimeout)
	defer cancel()
	log, err := d.home.log("pglite")
	if err != nil {
		return err
	}
	pglite, err := stack.StartPGlite(ctx, stack.PGliteOptions{
		Root: d.home.root, Data: filepath.Join(d.home.data, "postgres"), Log: log,
	})
	if err != nil {
		return err
	}
	d.parts.watch("pglite", pglite, pglite.Stop)
	d.database = pglite.URL
	d.out.done("pglite", "Postgres 18 with pgvector")
	if err := stack.SupabaseRoles(ctx, d.database, ""); err != nil {
		return err
	}
	return d.migrate(ctx)
}

func (d *dev) migrate(ctx context.Context) error {
	dimensions, err := d.env.dimensions()
	if err != nil {
		return err
	}
	report, err := schema.Migrate(ctx, d.database, schema.Options{Dimensions: dimensions})
	if err != nil {
		return fmt.Errorf("migrate the local database (to start over, remove %s): %w", d.home.rel(d.home.data), err)
	}
	d.out.done("schema", aboutSchema(report))
	return nil
}

// aboutSchema describes a migration without the names of its steps.
func aboutSchema(r schema.Report) string {
	switch {
	case len(r.Applied) == 0:
		return fmt.Sprintf("%s is at version %d", r.Schema, r.To)
	case r.From == 0:
		return fmt.Sprintf("%s was created at version %d", r.Schema, r.To)
	}
	return fmt.Sprintf("%s was migrated from version %d to %d", r.Schema, r.From, r.To)
}

func (d *dev) startReceiver(context.Context) error {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	d.env["WEBHOOK_SECRET"] = "whsec_" + base64.StdEncoding.EncodeToString(secret)
	d.env["WEBHOOK_ALLOW_CIDRS"] = "127.0.0.0/8"
	log, err := d.home.log("webhooks")
	if err != nil {
		return err
	}
	d.receiver, err = receiver.Open(receiver.Options{
		Secret: d.env["WEBHOOK_SECRET"],
		Reject: func(id string, problem error) {
			d.out.bad("webhook", fmt.Sprintf("%q is refused: %v", id, problem))
		},
		Accept: func(w receiver.Delivery, first bool) {
			fmt.Fprintf(log, "%s\n", w.Body)
			if first {
				d.showWebhook(w)
			}
		},
	})
	if err != nil {
		return err
	}
	d.parts.add("webhooks", d.receiver.Close)
	d.out.done("webhooks", "received at "+d.receiver.URL+", signatures checked with the reference library")
	return nil
}

func (d *dev) startWorker(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errStartTimeout)
	defer cancel()
	d.env["CLIENT_ID"] = clientID
	log, err := d.home.log("worker")
	if err != nil {
		return err
	}
	manager, err := listenReady()
	if err != nil {
		return err
	}
	if d.api, err = newAccess(); err != nil {
		return err
	}
	const drainSeconds = 20
	env := append(d.env.environ(), "HTTP_ADDR="+d.api.addr, "API_TOKENS="+d.api.entry,
		"PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"), "TMPDIR="+d.home.tmp, "NOTIFY_SOCKET="+manager.address,
		"LOG_FORMAT=text", "POLL_MAX_MS=1000", fmt.Sprintf("DRAIN_MAX_SEC=%d", drainSeconds))
	worker, err := stack.Start(ctx, stack.Command{
		Name: "worker", Path: d.Worker, Args: []string{"run"}, Dir: d.home.dir, Env: env, Log: log,
		Up: manager.ready,
	})
	if err != nil {
		manager.close()
		return err
	}
	d.parts.watch("worker", worker, func() error {
		defer manager.close()
		return worker.Stop(syscall.SIGTERM, (drainSeconds+10)*time.Second)
	})
	model := "with the models of your key"
	if d.env["LLM_PROVIDER"] == "offline" {
		model = "with the offline provider: no key, no network, search finds words and not meaning"
	}
	d.out.done("worker", fmt.Sprintf("async-worker run, client %s, %s", clientID, model))
	d.out.done("http", "the HTTP API is at "+d.api.url()+", its calls at "+d.api.url()+"/docs")
	return nil
}

// extras are variables for the user, beside the settings.
func (d *dev) extras() settings {
	return settings{
		"DEV_WEBHOOK_URL": d.receiver.URL, "DEV_DATABASE_URL": d.database, "DEV_API_URL": d.api.url(),
		"DEV_API_TOKEN": d.api.token,
	}
}
