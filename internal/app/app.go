// Package app wires all packages together: it turns settings into a running daemon, or into the services that a
// command needs. A Tenant owns everything that belongs to one tenant.
package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Version is what `async-worker version` prints; the linker sets it in a release.
var Version = "0.1.0-dev"

// Commit is the commit that the program was built from. The linker sets it (packaging/build); it is empty where the
// go command records it.
var Commit string

// Date is the time of Commit, in RFC 3339, set in the same way.
var Date string

// Needs is the set of services that a command works with: config.Queue, config.Blob, config.Store and
// config.Models, joined with |. The settings must have been loaded for the same groups.
type Needs = config.Group

// Everything is what the daemon needs.
const Everything = config.Queue | config.Blob | config.Store | config.Models

// Tenant holds everything of one tenant. Fields of services that Open was not asked for are nil.
type Tenant struct {
	Config   config.Config
	Store    store.Store
	Feed     *feed.Feed // of the store's events
	Queues   engine.Queues
	Bucket   blob.Bucket
	Embedder llm.Embedder
	Chat     ChatModel
	Rater    search.Rater // nil: RERANK_URL is not set
	// SweepEvery is how often a worker looks for lost messages; zero: engine.DefaultSweepEvery. It is no setting: only
	// a test waits for it.
	SweepEvery time.Duration

	questions llm.Embedder // embeds the questions of searches; nil: Embedder does
	contexts  ChatModel    // writes contexts of chunks; offline unless CONTEXT_MODE is model

	log     *slog.Logger
	worker  string      // unique to this process
	counter llm.Counter // counts tokens; shared, since its table is large
	metrics *metrics.Metrics
	closers []func() error
	probed  engine.Probes // of the services opened so far

	wake      *atomic.Pointer[func()]           // of the worker, for new tasks; nil: there is none
	publisher *atomic.Pointer[events.Publisher] // of lifecycle events; nil: there is none
	cognee    *atomic.Pointer[cognee.Loop]      // nil: there is none

	pool     *child.Pool    // of memory for programs and decoders; shared
	fonts    *fonts.Library // for PDF; shared
	accounts *accounts      // at model services; shared with what a reload opens
	// inFlight is how many requests to each account this tenant's settings allow; a reload begins with none.
	inFlight map[accountKey]int
}

// Open connects the services that a command needs. It starts nothing and makes few requests: a wrong address fails
// at the first use. The caller must call Close.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, needs Needs) (*Tenant, error) {
	t := &Tenant{
		Config: cfg, log: log, worker: workerName(), counter: token.New(), accounts: new(accounts),
		wake: new(atomic.Pointer[func()]), publisher: new(atomic.Pointer[events.Publisher]),
		cognee: new(atomic.Pointer[cognee.Loop]),
		pool:   child.NewPool(cmp.Or(cfg.ParserMemory, config.DefaultParserMemory)), fonts: fonts.New(),
	}
	types, err := Types()
	if err != nil {
		return nil, err
	}
	t.metrics = metrics.New(metrics.Options{
		ClientID: cfg.ClientID, Types: types, Version: Version, Commit: Commit, Log: log,
	})
	steps := []struct {
		need Needs
		open func(context.Context) error
	}{
		{config.Queue, t.openQueues},
		{config.Blob, t.openBucket},
		{config.Store, t.openStore},
		{config.Models, t.openModels},
	}
	for _, s := range steps {
		if needs&s.need == 0 {
			continue
		}
		if err := s.open(ctx); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// Close closes all connections, the last opened first.
func (t *Tenant) Close() error {
	var errs []error
	for i := len(t.closers) - 1; i >= 0; i-- {
		errs = append(errs, t.closers[i]())
	}
	t.closers = nil
	return errors.Join(errs...)
}

// Enqueue records a task as pending and sends its message. It needs config.Queue and config.Store, and config.Blob to send
// a large message.
func (t *Tenant) Enqueue(ctx context.Context, what task.Task) (store.SubmitAnswer, error) {
	return t.submitter(t.maxAttempts).Submit(ctx, what)
}

// Replayer replays dead letters and failed jobs. It needs config.Queue, config.Store and config.Blob.
func (t *Tenant) Replayer() replay.Replayer { return t.replayer(t.maxAttempts) }

func (t *Tenant) replayer(maxAttempts func(task.Type) int) replay.Replayer {
	return replay.Replayer{
		Store: t.Store, Queue: t.Queues.For, Bucket: t.Bucket, ClientID: t.Config.ClientID, MaxAttempts: maxAttempts,
	}
}

// EnsureQueues creates the tenant's queues that are missing.
func (t *Tenant) EnsureQueues(ctx context.Context) error {
	for _, q := range []queue.Queue{t.Queues.High, t.Queues.Normal, t.Queues.Low, t.Queues.DeadLetter} {
		if err := q.Ensure(ctx); err != nil {
			return fmt.Errorf("create queue %s: %w", q.Name(), err)
		}
	}
	return nil
}

func (t *Tenant) maxAttempts(what task.Type) int {
	if n := t.Config.Retry.MaxAttempts; n > 0 {
		return n
	}
	return policyOf(what).MaxAttempts
}

// workerName is unique to this process, also among containers whose processes all have the same id.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return fmt.Sprintf("%s/%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()[:6]))
}
