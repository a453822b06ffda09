// Package engine moves messages through their lives: receive into free slots, begin, run the
// handler, commit, and only then settle the message. The store's fence decides who may commit
// (I4); the queue's lease only decides who gets to try.
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
	"github.com/seed-7227ef26/async-worker/queue"
)

// The causes with which a task's context ends; see context.Cause.
var (
	// ErrCanceled means that a cancel of the job was requested.
	ErrCanceled = errors.New("engine: the job was canceled")
	// ErrTimeout means that the task's own deadline passed.
	ErrTimeout = errors.New("engine: the task exceeded its timeout")
	// ErrLeaseLost means that another worker may have the job by now: the work of this one is void.
	ErrLeaseLost = errors.New("engine: the lease on the job was lost")
	// ErrDraining means that the worker is shutting down and the drain's time has ended.
	ErrDraining = errors.New("engine: the worker is shutting down")
)

// Config configures an engine. All fields are required unless a zero value is explained.
type Config struct {
	ClientID    string
	Worker      string        // names this process in rows and dead letters; unique among workers
	Concurrency int           // tasks at a time, ≥ 1
	Lease       time.Duration // of message and job, renewed at a third of it; ≥ 3 s, whole seconds
	PollMin     time.Duration // wait after a batch that did not fill the free slots
	PollMax     time.Duration // the wait doubles up to this while the queues are empty
	TaskTimeout time.Duration // for a task without hints.timeout_seconds
	DrainMax    time.Duration // how long a shutdown waits for running tasks; zero: not at all
	MaxAttempts int           // zero: by task type
	Backoff     time.Duration // base of the retry policy; zero: by task type
	WaitMax     time.Duration // how long a job waits for services that are down (I11); zero: DefaultWaitMax
	MaxReleases int           // uncounted runs of its handler since then; zero: DefaultMaxReleases
	// ProbeFirst are the services that are probed before a task that needs them is started, unless they were known to be
	// up within the time given.
	ProbeFirst map[taskerr.Dependency]time.Duration
	SweepEvery time.Duration // between two searches for lost messages; zero: DefaultSweepEvery
}

// Queues are the four queues of a tenant.
type Queues struct {
	High, Normal, Low queue.Queue
	DeadLetter        queue.Queue
}

// Deps are the dependencies of an engine.
type Deps struct {
	Queues Queues
	// Billed: each request to the queues costs money, so an idle worker looks at one of them at a time. Peek must show
	// every message that Receive would return.
	Billed bool
	Store  store.Jobs
	Bucket blob.Bucket // holds claim checks
	// of services that handlers need; without one, different tasks have to fail before it counts as down
	Probes   Probes
	Handlers handlers.Registry
	Observer Observer // nil: none
	// Outbox is called after a commit that added a webhook to the outbox; it must not block. May be nil.
	Outbox func()
	// WebhooksDue returns about how many webhooks are due; while there are many, fewer tasks are taken. It must not
	// block. May be nil.
	WebhooksDue func() int
	Tracer      *tracing.Tracer // nil: no spans
	Log         *slog.Logger
}

// Engine is one worker of one tenant.
type Engine struct {
	cfg  Config // as passed to New; live has what can be changed while it runs
	live atomic.Pointer[Tuning]
	deps Deps
	log  *slog.Logger
	obs  Observer

	slots           *slots
	breakers        *breakers
	limits          *limits
	deferred        deferred
	throttle        *throttle
	outages         outages
	begins          *begins
	uncommittedJobs *uncommittedJobs
	queueTroubles   *queueTroubles
	watch           *watch
	watchdog        *watchdog
	tally           *tally
	wake            chan struct{}
	nextStart       nextStart
	draining        atomic.Bool

	stopTasks context.CancelCauseFunc // ends every running task, see Abort
	tasks     context.Context
	running   sync.WaitGroup
	crew      *crew // of tasks and their handlers
	turns     *turns
	ids       *ids
	taskLog   *slog.Logger // log, for the loggers of tasks
}

// New checks cfg and returns an engine, which works when Run is called.
func New(cfg Config, deps Deps) (*Engine, error) {
	tuning := cfg.Tuning(deps.Handlers, deps.Probes)
	if err := tuning.check(); err != nil {
		return nil, err
	}
	if cfg.Lease < 3*time.Second {
		return nil, fmt.Errorf("engine: a lease of %v is below 3s", cfg.Lease)
	}
	if deps.Observer == nil {
		deps.Observer = NopObserver{}
	}
	if deps.Outbox == nil {
		deps.Outbox = func() {}
	}
	seen := &tally{Observer: deps.Observer}
	e := &Engine{
		cfg: cfg, deps: deps, obs: seen, tally: seen, log: deps.Log,
		slots: newSlots(cfg.Concurrency), limits: newLimits(cfg.Concurrency, deps.Log),
		deferred:      deferred{by: map[string]putBack{}},
		throttle:      newThrottle(cfg.PollMin, cfg.PollMax, deps.WebhooksDue, deps.Log),
		queueTroubles: newQueueTroubles(deps.Log), begins: newBegins(), uncommittedJobs: newUncommittedJobs(),
		watchdog: newWatchdog(), crew: newCrew(), ids: newIDs(), turns: newTurns(), wake: make(chan struct{}, 1),
		nextStart: nextStart{changed: make(chan struct{}, 1)}, taskLog: slog.New(event.Late(deps.Log.Handler())),
	}
	e.watch = newWatch(deps.Store, deps.Log, &e.outages)
	e.live.Store(&tuning)
	e.breakers = newBreakers(deps.Log, cfg.PollMax, e.tuning, e.resume)
	e.tasks, e.stopTasks = context.WithCancelCause(context.Background())
	return e, nil
}

// Run works until ctx is done and then drains: it receives nothing more, releases at once what is not started, gives
// running tasks DrainMax to finish, and then releases the rest without counting the attempt (I9). It may be called
// once.
func (e *Engine) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	defer loops.Wait()
	defer e.crew.end()
	watching, stopWatch := context.WithCancel(context.WithoutCancel(ctx)) // tasks can be canceled during the drain
	defer stopWatch()
	loops.Go(func() { e.watch.loop(watching) })
	loops.Go(func() { e.reportLoop(watching) })
	loops.Go(func() { e.sweepLoop(ctx) })
	loops.Go(func() { e.breakers.loop(ctx) })
	e.pollLoop(ctx)
	e.drain()
	last, done := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
	defer done()
	if _, err := e.reportUnanswered(last); err != nil {
		e.log.Warn("can't report begins that the database did not answer; one that it executed costs its job an "+
			"attempt", "error", err)
	}
	return nil
}

// Wake ends the current wait between polls. A local enqueue or a signal calls it.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// wakeAfter ends the wait between polls when a message comes back that was put back for the given time: on idle queues
// that wait may be much longer. Queues count in whole seconds.
func (e *Engine) wakeAfter(wait time.Duration) {
	const margin = 20 * time.Millisecond
	time.AfterFunc((wait+time.Second-1).Truncate(time.Second)+margin, e.Wake)
}

// Abort ends a drain, or all work, at once: running tasks are released.
func (e *Engine) Abort() { e.stopTasks(ErrDraining) }

// resume is called when a dependency is up again. It polls for the messages that waited for it, now and when those come
// back that were deferred during the trial.
func (e *Engine) resume() {
	e.Wake()
	e.wakeAfter(e.breakers.probing() * 5 / 4) // they are spread
}

func (e *Engine) drain() {
	n := e.slots.running()
	e.tally.draining.Store(int64(n))
	e.draining.Store(true)
	begun := time.Now()
	e.log.Info("draining: finishing what is running, taking no more", event.Key, event.DrainBegun, "running", n,
		"at_most", e.tuning().DrainMax)
	defer func() {
		e.log.Info("drained", event.Key, event.DrainEnded, "finished_or_released", n, "duration_ms",
			time.Since(begun).Milliseconds())
	}()
	finished := make(chan struct{})
	go func() {
		e.running.Wait()
		close(finished)
	}()
	timer := time.NewTimer(e.tuning().DrainMax)
	defer timer.Stop()
	select {
	case <-finished:
		return
	case <-e.tasks.Done():
	case <-timer.C:
		e.log.Warn("draining: time is up, releasing the tasks that still run", "running", e.slots.running())
	}
	e.Abort()
	<-finished // settleTime bounds every settlement
}

// policy is the retry policy of a handler with the operator's overrides.
func (e *Engine) policy(spec handlers.Spec) job.Policy {
	p := spec.Policy
	if p.MaxAttempts == 0 {
		p = job.DefaultPolicy
	}
	if e.tuning().MaxAttempts > 0 {
		p.MaxAttempts = e.tuning().MaxAttempts
	}
	if e.tuning().Backoff > 0 {
		p.Base, p.Cap = e.tuning().Backoff, max(p.Cap, e.tuning().Backoff)
	}
	return p
}

// jittered varies d by a tenth, so that workers don't act in step.
func jittered(d time.Duration) time.Duration { return retry.Jitter(d, 0.1) }
