// Package events publishes the lifecycle events of a tenant's jobs, and dead letters, to a sink. They are rows of the
// store, written in the transactions of jobs; the publisher reads the stream of them from a position that the store
// keeps, and moves it when the sink has taken them. So each event arrives at least once, those of a job in their order,
// and one that comes again has the same id. No task waits for the publisher.
//
// One worker of a tenant publishes at a time, under a lease with a fence. Another one takes over when the lease ends.
package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Config configures a Publisher. Zero fields take their defaults.
type Config struct {
	Store    store.Publishing // required
	Sink     Sink             // required
	ClientID string           // required
	Worker   string           // required: our name on the lease
	Log      *slog.Logger     // required

	Lease time.Duration // how long a publisher that stopped keeps the others waiting; default 30 s
	Grace time.Duration // how long Run goes on with what is left when it is to end; default 5 s
	// Listen calls woken when other processes have written events, until ctx ends or an error; nil: the store is asked
	// more often.
	Listen func(ctx context.Context, woken func()) error
	// Observe gets what was done, from one goroutine; nil: no call.
	Observe func(Observation)

	poll, backoff retry.Backoff // of tests
}

// Observation is what metrics see of the publisher.
type Observation struct {
	Published int // events that the sink took
	Refused   int // events that it will never take
	Reduced   int // events that it took without their results
	Failed    int // 1: it took none, or not all, and they will be sent again
}

const (
	pageEvents = 500
	pageBytes  = 2 << 20   // of a page's events
	maxResult  = 256 << 10 // of a result in an event, in bytes; a longer one is a reference

	gather       = 100 * time.Millisecond // between two reads, unless there is more: events come in bunches
	otherPoll    = 15 * time.Second       // while another worker publishes
	notifiedPoll = 15 * time.Second       // while notifications arrive
	storeCall    = 30 * time.Second
	maxAfter     = 5 * time.Minute // of a sink's Retry-After
	relisten     = 10 * time.Second
)

// errStopping ends a request to a sink that outlives the grace of a shutdown.
var errStopping = errors.New("the worker stopped before the sink answered")

// Publisher publishes a tenant's events while it has the lease.
type Publisher struct {
	cfg      Config
	woken    chan struct{} // capacity 1
	notified atomic.Bool
	down     time.Time // since when the sink fails; zero: it does not
	failing  bool      // the store does not answer
	rows     int       // of the next page, at most
}

// New fills in the defaults.
func New(cfg Config) (*Publisher, error) {
	if cfg.Store == nil || cfg.Sink == nil || cfg.ClientID == "" || cfg.Worker == "" || cfg.Log == nil {
		return nil, errors.New("events: Store, Sink, ClientID, Worker and Log are required")
	}
	if cfg.Lease <= 0 {
		cfg.Lease = 30 * time.Second
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 5 * time.Second
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Observation) {}
	}
	if cfg.poll.First == 0 {
		cfg.poll = retry.Backoff{First: 200 * time.Millisecond, Max: 2 * time.Second}
	}
	if cfg.backoff.First == 0 {
		cfg.backoff = retry.Backoff{First: time.Second, Max: time.Minute, Jitter: 0.25}
	}
	return &Publisher{cfg: cfg, woken: make(chan struct{}, 1), rows: pageEvents}, nil
}

// Wake reports that there are new events. It does not block.
func (p *Publisher) Wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// Run publishes until ctx ends, and then what is left for as long as the grace. It logs errors and continues.
func (p *Publisher) Run(ctx context.Context) {
	waits := p.cfg.backoff.Waits()
	for ctx.Err() == nil {
		wait := p.turn(ctx, waits)
		_ = retry.Sleep(ctx, wait)
	}
}

// turn publishes if no other worker does, and returns how long to wait for the next turn.
func (p *Publisher) turn(ctx context.Context, waits *retry.Waits) time.Duration {
	asked := time.Now()
	call, cancel := context.WithTimeout(ctx, storeCall)
	claim, err := p.cfg.Store.ClaimPublisher(call, p.cfg.Worker, p.cfg.Lease)
	cancel()
	switch {
	case ctx.Err() != nil:
		return 0
	case err != nil:
		p.storeFails(err)
		return waits.Next()
	case !claim.Held:
		p.storeWorks()
		return retry.Jitter(min(claim.Wait+time.Second, otherPoll), 0.1)
	}
	p.storeWorks()
	waits.Reset()
	if claim.Reset {
		p.cfg.Log.Warn("the position of the published events is of another database; events written before this moment "+
			"are not published", event.Key, event.EventsLost)
	}
	if claim.Lost > 0 {
		p.cfg.Log.Warn("events were removed before they were published (EVENTS_KEEP_DAYS)", "events", claim.Lost,
			event.Key, event.EventsLost)
	}
	h := p.hold(ctx, claim.Fence, asked)
	defer h.end()
	if err := h.publish(); errors.Is(err, store.ErrNotPublisher) || errors.Is(err, errLapsed) {
		p.cfg.Log.Warn("another worker publishes the events now", "reason", err)
	}
	return 0
}

func (p *Publisher) storeFails(err error) {
	if !p.failing {
		p.cfg.Log.Warn("the events can't be read from the database; they will be published later", "error", err)
	}
	p.failing = true
}

func (p *Publisher) storeWorks() { p.failing = false }

// sinkFails notes that the sink did not take events.
func (p *Publisher) sinkFails(err error, wait time.Duration) {
	p.cfg.Observe(Observation{Failed: 1})
	if p.down.IsZero() {
		p.down = time.Now()
		p.cfg.Log.Warn("the sink does not take the events; they wait in the database", "error", err, "settings",
			"EVENTS_URL, EVENTS_KEY", event.Key, event.SinkDown)
		return
	}
	p.cfg.Log.Debug("the sink still does not take the events", "error", err, "after", wait.String())
}

// sinkTook notes what became of events.
func (p *Publisher) sinkTook(s Sent) {
	for _, r := range s.Refused {
		p.cfg.Log.Error("the sink refuses an event; it is left out", "event", r.Event.ID, "type", r.Event.Type,
			"task_id", r.Event.Job, "bytes", len(r.Event.Body), "error", r.Cause, event.Key, event.EventRefused)
	}
	p.cfg.Observe(Observation{
		Published: s.Done - len(s.Refused), Refused: len(s.Refused), Reduced: s.Reduced,
	})
	if s.Done > 0 && !p.down.IsZero() {
		p.cfg.Log.Info("the sink takes events again", "after", time.Since(p.down).Round(time.Second).String(),
			event.Key, event.SinkUp)
		p.down = time.Time{}
	}
}

// encode makes the events of a page.
func (p *Publisher) encode(page []store.Outgoing) ([]Event, error) {
	all := make([]Event, len(page))
	for i, o := range page {
		var err error
		if all[i], err = Make(p.cfg.ClientID, o); err != nil {
			return nil, fmt.Errorf("publish: %w", err)
		}
	}
	return all, nil
}
