package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Config says how a Loop delivers. Zero fields take their defaults.
type Config struct {
	Deliveries store.Deliveries // required
	Sender     Attempter        // required
	Worker     string           // required: our name on a claim
	Log        *slog.Logger     // required; hosts are logged, never the rest of a URL

	Concurrency int           // attempts at once; default 16, at most 100
	PerHost     int           // attempts at once to one receiver; default 4
	Poll        time.Duration // the longest time between two looks at an idle outbox; default 1 min
	Lease       time.Duration // of a claim; default 2 min, and never less than Timeout and settling take
	Timeout     time.Duration // the longest that Sender takes for one attempt; default DefaultTimeout
	Grace       time.Duration // how long attempts in flight may go on once Run is to end; default 10 s

	// Observe is told of each attempt, from several goroutines; nil: nobody is.
	Observe func(Observation)
}

// Attempter makes one attempt at a delivery; it ends soon after its context. Sender is one.
type Attempter interface {
	Send(ctx context.Context, d store.Delivery) Attempt
}

// Observation is an attempt as metrics see it.
type Observation struct {
	Status         string // of the delivery now: store.DeliveryDelivered, …
	ResponseStatus int    // zero: no answer
	Attempt        int    // 1 is the first
	Latency        time.Duration
}

const (
	settleTimeout = 10 * time.Second // for one try at noting an outcome
	settleTries   = 3
	settleBudget  = settleTries*settleTimeout + 5*time.Second // with the waits between
	countEvery    = 5 * time.Second                           // between two counts of what is due
	maxBackoff    = time.Minute                               // between claims while the store is down
)

// errStopping ends attempts that outlive the grace of a shutdown.
var errStopping = errors.New("the worker stopped before the receiver answered")

// Loop delivers what the outbox holds, again and again until it is delivered or its schedule ends.
// Several loops, in several processes, may share one outbox: a claim is a lease. A delivery may be
// made twice when a process dies between the receiver's answer and its note of it; its webhook-id is
// the same then.
type Loop struct {
	cfg  Config
	wake chan struct{}
	due  atomic.Int64 // at the last look
}

// NewLoop fills in the defaults.
func NewLoop(cfg Config) (*Loop, error) {
	if cfg.Deliveries == nil || cfg.Sender == nil || cfg.Log == nil || cfg.Worker == "" {
		return nil, errors.New("webhook loop: Deliveries, Sender, Worker and Log are required")
	}
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 16
	}
	cfg.Concurrency = min(cfg.Concurrency, 100)
	if cfg.PerHost <= 0 {
		cfg.PerHost = 4
	}
	if cfg.Poll <= 0 {
		cfg.Poll = time.Minute
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Lease <= 0 {
		cfg.Lease = 2 * time.Minute
	}
	cfg.Lease = max(cfg.Lease, cfg.Timeout+settleBudget+5*time.Second)
	if cfg.Grace <= 0 {
		cfg.Grace = 10 * time.Second
	}
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1)}, nil
}

// Wake makes the loop look at the outbox now. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been woken already
	}
}

// Due is how many webhooks were due and waited in the outbox when they were counted last, beside those being
// sent: a few seconds ago, or at the last look at an idle outbox. It is not counted beyond 1001.
func (l *Loop) Due() int { return int(l.due.Load()) }

// Run delivers until ctx is done; then it claims no more (but once if it was woken just before: the last
// tasks of a drain), lets the attempts in flight end within the grace, notes what came of them, and
// returns nil. Errors of the store are logged and outlasted. Only one Run at a time.
func (l *Loop) Run(ctx context.Context) error {
	// Attempts and notes outlive ctx: what a receiver has got must be noted.
	attempts, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	r := &round{
		Config: l.cfg, attempts: attempts, busy: map[string]int{}, due: &l.due,
		done: make(chan finished, l.cfg.Concurrency),
	}
	for ctx.Err() == nil {
		timer := time.NewTimer(r.advance(ctx))
		select {
		case <-ctx.Done():
		case <-l.wake:
			r.look = true
		case f := <-r.done:
			r.finish(f)
		case <-timer.C:
			r.look = true
		}
		timer.Stop()
	}
	timer := time.AfterFunc(l.cfg.Grace, func() { cancel(errStopping) })
	defer timer.Stop()
	select {
	case <-l.wake:
		r.look = true
	default:
	}
	if r.look {
		r.advance(attempts)
	}
	for r.running > 0 {
		r.finish(<-r.done)
	}
	return nil
}

// settle notes an outcome, trying again for a while: without the note the delivery is made twice.
func settle(ctx context.Context, deliveries store.Deliveries, o store.DeliveryOutcome) error {
	wait := 500 * time.Millisecond
	for try := 1; ; try++ {
		bounded, cancel := context.WithTimeout(ctx, settleTimeout)
		err := deliveries.SettleDelivery(bounded, o)
		cancel()
		if err == nil || errors.Is(err, store.ErrFenced) || try == settleTries {
			return err
		}
		timer := time.NewTimer(spread(wait, 0.5))
		<-timer.C
		wait *= 2
	}
}

// log tells what came of an attempt; the URL's path and query may hold a token and stay out of it.
func (c *Config) log(d store.Delivery, o store.DeliveryOutcome, a Attempt) {
	log := c.Log.With("task_id", d.JobID, "delivery", d.ID, "host", host(d.URL), "attempt", d.Attempts+1,
		"latency_ms", a.Latency.Milliseconds())
	switch o.Status {
	case store.DeliveryDelivered:
		log.Info("webhook delivered", "status", a.Status)
	case store.DeliveryPending:
		log.Warn("webhook not delivered, to be tried again", "error", o.Error, "next_after", o.NextAfter.Round(time.Second).String())
	default:
		attrs := []any{event.Key, event.WebhookGivenUp, "outcome", o.Status, "error", o.Error}
		if refused, ok := errors.AsType[*RefusedError](a.Err); ok && refused.Addr.IsValid() {
			attrs = append(attrs, "address", refused.Addr.String())
		}
		log.Error("webhook given up", attrs...)
	}
}
