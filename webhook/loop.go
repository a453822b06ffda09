package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Config says how a Loop delivers. Zero fields take their defaults.
type Config struct {
	Deliveries store.Deliveries // required
	Sender     Attempter        // required
	Worker     string           // required: our name on a claim
	Log        *slog.Logger     // required; hosts are logged, never the rest of a URL

	Concurrency int // attempts at once; default 16, at most 100
	PerHost     int // attempts at once to one receiver; default 4
	// the longest time between two looks at an idle outbox; default 1 min, less with a short Lease
	Poll    time.Duration
	Lease   time.Duration // of a claim, extended while an attempt is under way; default 1 min, 10 s to 1 min
	Timeout time.Duration // the longest that Sender takes for one attempt; default DefaultTimeout
	Grace   time.Duration // how long attempts in flight may go on once Run is to end; default 10 s

	// Observe gets each attempt, from several goroutines; nil: no call.
	Observe func(Observation)
}

// Attempter makes one attempt at a delivery; it ends soon after its context. Sender is one.
type Attempter interface {
	Send(ctx context.Context, d store.Delivery) Attempt
}

// Observation is an attempt as metrics see it.
type Observation struct {
	Status         string // of the delivery now: store.DeliveryDelivered, …; Missed
	ResponseStatus int    // zero: no answer
	Attempt        int    // 1 is the first
	Latency        time.Duration
}

// Missed is the Status of an Observation: a webhook of a task's course, which is tried once, was not delivered.
const Missed = "missed"

const (
	settleTimeout = 10 * time.Second // for one try at noting an outcome
	settleTries   = 3
	minLease      = 10 * time.Second
	maxLease      = time.Minute
	maxHeld       = time.Minute     // that a claimed delivery waits for a free place
	countEvery    = 5 * time.Second // between two counts of what is due
)

// claimWaits are the waits between claims while the store is down.
var claimWaits = retry.Backoff{First: time.Second, Max: time.Minute, Jitter: 0.25}

// shortWaits are the waits between claims while this machine lacks something that an attempt needs, e.g. open files.
var shortWaits = retry.Backoff{First: time.Second, Max: time.Minute, Jitter: 0.25}

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
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Lease <= 0 {
		cfg.Lease = maxLease
	}
	cfg.Lease = min(max(cfg.Lease, minLease), maxLease)
	if cfg.Poll <= 0 {
		// A claim that a crash left behind is found at the next poll: with a jitter of a quarter, that is within the
		// lease and 15 s.
		cfg.Poll = min(time.Minute, (cfg.Lease+10*time.Second)*4/5)
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 10 * time.Second
	}
	return &Loop{cfg: cfg, wake: make(chan struct{}, 1)}, nil
}

// Wake makes the loop poll the outbox now. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default: // it has been woken already
	}
}

// Due is the number of due webhooks at the last count, without those in flight, up to 1001. The last count was a few
// seconds ago, or at the last poll of an idle outbox.
func (l *Loop) Due() int { return int(l.due.Load()) }

// Run delivers until ctx is done. It then claims once more if it was woken (for the last tasks of a drain), waits up to
// Grace for attempts in flight, records their results and returns nil. It logs store errors and continues. Only one Run
// may be active.
func (l *Loop) Run(ctx context.Context) error {
	// Attempts and their records outlive ctx: the result of a request that was sent must be recorded.
	attempts, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	r := &round{
		Config: l.cfg, attempts: attempts, busy: map[string]int{}, slow: map[string]bool{}, due: &l.due,
		done: make(chan finished, l.cfg.Concurrency), flying: map[string]store.DeliveryClaim{},
		kept:   make(chan renewal, 1),
		health: &health{},
		waits:  claimWaits.Waits(),
		lacks:  shortWaits.Waits(),
	}
	renew := time.NewTicker(l.cfg.Lease / 3)
	defer renew.Stop()
	for ctx.Err() == nil {
		timer := time.NewTimer(r.advance(ctx))
		select {
		case <-ctx.Done():
		case <-l.wake:
			r.look = true
		case f := <-r.done:
			r.finish(f)
		case <-renew.C:
			r.extend()
		case kept := <-r.kept:
			r.keep(kept)
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
	r.release(func(held) bool { return true })
	for r.running > 0 || r.extending {
		select {
		case f := <-r.done:
			r.finish(f)
		case <-renew.C:
			r.extend()
		case kept := <-r.kept:
			r.keep(kept)
		}
	}
	return nil
}

// settle records a result and retries for a while: without the record the webhook is sent twice.
func settle(ctx context.Context, deliveries store.Deliveries, o store.DeliveryOutcome) (store.Receiver, error) {
	p := retry.Policy{
		Backoff: retry.Backoff{First: 500 * time.Millisecond, Max: time.Second, Jitter: 0.5}, Tries: settleTries,
		Retryable: func(err error) bool { return !errors.Is(err, store.ErrFenced) },
	}
	// A shutdown does not interrupt this.
	return retry.Do(context.WithoutCancel(ctx), p, func() (store.Receiver, error) {
		bounded, cancel := context.WithTimeout(ctx, settleTimeout)
		defer cancel()
		return deliveries.SettleDelivery(bounded, o)
	})
}
