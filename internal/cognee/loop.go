package cognee

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Config configures a Loop. Zero fields take their defaults.
type Config struct {
	Store    store.Cognee // required
	Client   *Client      // required
	ClientID string       // required: the tenant
	Worker   string       // required: our name on the leases
	Log      *slog.Logger // required

	Concurrency int           // requests at a time, 1-100; default 4
	Lease       time.Duration // of claims, renewed while a request is under way; default 60 s, at least 1 s
	Poll        time.Duration // between two looks at the outbox without a wake; default a minute
	Quiet       time.Duration // for how long a document set must not have changed until cognify; default 5 s
	Gather      time.Duration // how long changes wait for that at most; default 10 min
	Grace       time.Duration // how long requests under way may go on when Run is to end; default 10 s
	FirstProbe  time.Duration // the first wait of an outage; default 5 s
	Renew       time.Duration // between two renewals of the leases; default a third of Lease
	// FirstRetry is the wait after a document's first failure; it doubles with each one, up to 6 h. Default 5 s.
	FirstRetry time.Duration
	// Unlisted is for how long after its deletion a document is looked for whose upload got no answer, as Cognee may go on
	// with it. Default: 15 min, three times as long as Client waits for an upload by default.
	Unlisted time.Duration
	// Observe gets what was done, from many goroutines; nil: no call.
	Observe func(Observation)
}

// Observation is what metrics see of an attempt.
type Observation struct {
	Outcome string        // of a document: store.CogneeSent, CogneeForgotten, CogneeRefused, CogneeFailed, CogneeRetry
	Cognify string        // of a dataset: store.CognifyAsked, CognifyDone, CognifyFailed
	Took    time.Duration // of the requests
}

const (
	storeCall   = 30 * time.Second
	maxRetry    = 6 * time.Hour    // between two attempts at a document, or at a run of cognify
	maxRun      = 6 * time.Hour    // of a run of cognify; then Cognee is presumed to have lost it
	betweenWake = time.Second      // between two looks at the outbox, unless it has more
	maxPoll     = 60 * time.Second // between two questions for a run's status
)

var (
	// errStopping ends a request that outlives the grace of a shutdown.
	errStopping = errors.New("the worker stopped before Cognee answered")
	// errLapsed ends a request whose lease could not be renewed: another worker may send the document.
	errLapsed = errors.New("the claim ended before Cognee answered")
	// errReplaced means that another version became active while the text was read.
	errReplaced = errors.New("the version was replaced while it was being sent")
)

// Loop sends what the outbox holds. Several workers of a tenant may run one at the same time.
type Loop struct {
	cfg  Config
	wake chan struct{} // capacity 1
}

// NewLoop fills in the defaults.
func NewLoop(cfg Config) (*Loop, error) {
	if cfg.Store == nil || cfg.Client == nil || cfg.ClientID == "" || cfg.Worker == "" || cfg.Log == nil {
		return nil, errors.New("cognee: Store, Client, ClientID, Worker and Log are required")
	}
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 4
	}
	cfg.Concurrency = min(cfg.Concurrency, 100)
	def := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	def(&cfg.Lease, time.Minute)
	cfg.Lease = max(cfg.Lease, time.Second)
	def(&cfg.Renew, cfg.Lease/3)
	def(&cfg.Poll, time.Minute)
	def(&cfg.Quiet, 5*time.Second)
	def(&cfg.Gather, 10*time.Minute)
	def(&cfg.Grace, 10*time.Second)
	def(&cfg.FirstProbe, 5*time.Second)
	def(&cfg.FirstRetry, 5*time.Second)
	def(&cfg.Unlisted, 3*defaultTimeout)
	if cfg.Observe == nil {
		cfg.Observe = func(Observation) {}
	}
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1)}, nil
}

// Wake makes the loop look at the outbox soon. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been woken already
	}
}

// Run sends until ctx is done, and then waits up to Grace for requests under way. It logs errors and continues. Only one
// Run may be active.
func (l *Loop) Run(ctx context.Context) {
	// Requests and their records outlive ctx: the result of a request that was sent must be recorded.
	requests, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	r := &round{
		Config: l.cfg, requests: requests, done: make(chan *flight, l.cfg.Concurrency), flying: map[*flight]bool{},
		kept: make(chan renewal, 1), waits: claimWaits.Waits(),
	}
	renew := time.NewTicker(l.cfg.Renew)
	defer renew.Stop()
	for ctx.Err() == nil {
		timer := time.NewTimer(r.advance(ctx))
		select {
		case <-ctx.Done():
		case <-l.wake:
			r.sooner(max(0, betweenWake-time.Since(r.looked)))
		case f := <-r.done:
			r.finish(f)
		case <-renew.C:
			r.extend()
		case kept := <-r.kept:
			r.keep(kept)
		case <-timer.C:
		}
		timer.Stop()
	}
	timer := time.AfterFunc(l.cfg.Grace, func() { cancel(errStopping) })
	defer timer.Stop()
	for len(r.flying) > 0 || r.extending {
		select {
		case f := <-r.done:
			r.finish(f)
		case <-renew.C:
			r.extend()
		case kept := <-r.kept:
			r.keep(kept)
		}
	}
}
