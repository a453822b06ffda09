package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

const client = "bench"

// patience is the longest time of a measured run, and of each of its tasks.
const patience = 10 * time.Minute

// rig is a worker under measurement: the engine as the daemon has it, with the no-op handler unless it gets
// another.
type rig struct {
	name    string // of the worker
	queues  engine.Queues
	tasks   int // at a time
	handler handlers.Handler
	service queue.Service
	billed  bool // requests to the queues
	jobs    *countingJobs
	counter *endCounter
	stop    context.CancelFunc
	stopped chan struct{}
	ended   func()             // is called for each task that succeeded; may be nil
	deafen  context.CancelFunc // ends the notifications of new messages

	mu     sync.Mutex
	engine *engine.Engine // nil: not started
}

// wake is called for new messages.
func (r *rig) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine != nil {
		r.engine.Wake()
	}
}

// endCounter reports when n tasks have succeeded, and when each started.
type endCounter struct {
	engine.NopObserver
	mu      sync.Mutex
	want    int
	got     int
	other   map[string]int
	reached chan struct{}
	started chan time.Time
	polls   map[string]int // receives, by queue
	ended   func()
}

func (c *endCounter) Polled(queue string, _, _ int, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.polls[queue]++
}

func (c *endCounter) Started(task.Type, int) {
	select {
	case c.started <- time.Now():
	default:
	}
}

func (c *endCounter) Ended(_ task.Type, e engine.Ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Outcome != string(job.Succeeded) {
		c.other[e.Outcome]++
		return
	}
	if c.got++; c.got == c.want {
		close(c.reached)
	}
	if c.ended != nil {
		c.ended()
	}
}

// newRig returns a worker on Azure's queue protocol.
func newRig(ctx context.Context, connection string, jobs store.Jobs, tasks int) (*rig, error) {
	return newRigOn(ctx, azureBackend{connection}, jobs, tasks)
}

func newRigOn(ctx context.Context, on backend, jobs store.Jobs, tasks int) (*rig, error) {
	r := &rig{name: "bench", tasks: tasks, handler: noop{}, jobs: &countingJobs{Jobs: jobs}}
	listening, deafen := context.WithCancel(ctx)
	service, err := on.open(listening, tasks, r.wake)
	if err != nil {
		deafen()
		return nil, err
	}
	_, r.billed = on.(azureBackend)
	names := task.QueueNames(client)
	r.deafen, r.service = deafen, service
	r.queues = engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	for _, q := range []queue.Queue{r.queues.High, r.queues.Normal, r.queues.Low, r.queues.DeadLetter} {
		if err := q.Ensure(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// start runs the engine until want tasks have succeeded or close is called.
func (r *rig) start(ctx context.Context, want int) error {
	r.counter = &endCounter{
		want: want, other: map[string]int{}, polls: map[string]int{}, reached: make(chan struct{}),
		started: make(chan time.Time, 1), ended: r.ended,
	}
	registry, err := handlers.NewRegistry(r.handler)
	if err != nil {
		return err
	}
	e, err := engine.New(engine.Config{
		ClientID: client, Worker: r.name, Concurrency: r.tasks, Lease: time.Minute,
		PollMin: 100 * time.Millisecond, PollMax: 10 * time.Second, TaskTimeout: patience, DrainMax: time.Minute,
	}, engine.Deps{
		Queues: r.queues, Billed: r.billed, Store: r.jobs, Handlers: registry, Observer: r.counter,
		Log: slog.New(slog.NewJSONHandler(io.Discard, nil)), // as the daemon logs, to nowhere
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.engine = e
	r.mu.Unlock()
	ctx, r.stop = context.WithCancel(ctx)
	r.stopped = make(chan struct{})
	go func() {
		defer close(r.stopped)
		_ = e.Run(ctx) // always nil
	}()
	return nil
}

func (r *rig) close() error {
	r.stop()
	<-r.stopped
	r.deafen()
	return r.service.Close()
}

// figures are the results of one measured run.
type figures struct {
	took       time.Duration
	cpu        time.Duration // of this process
	roundTrips float64       // to the store, a task, heartbeats not counted
	heartbeats int64
	receives   perQueue // requests, a task
}

// perQueue are receives a task, by queue.
type perQueue struct{ high, normal, low float64 }

// measure runs n tasks that are on the queue already.
func (r *rig) measure(ctx context.Context, n int) (figures, error) {
	others, beats := r.jobs.others.Load(), r.jobs.heartbeats.Load()
	cpu, began := cpuTime(), time.Now()
	if err := r.start(ctx, n); err != nil {
		return figures{}, err
	}
	select {
	case <-r.counter.reached:
	case <-time.After(patience):
		return figures{}, fmt.Errorf("only %d of %d tasks succeeded within %v; other outcomes: %v", r.counter.got, n,
			patience, r.counter.other)
	}
	f := figures{took: time.Since(began), cpu: cpuTime() - cpu}
	err := r.close()
	f.roundTrips = float64(r.jobs.others.Load()-others) / float64(n)
	f.heartbeats = r.jobs.heartbeats.Load() - beats
	perTask := func(queue string) float64 { return float64(r.counter.polls[queue]) / float64(n) }
	f.receives = perQueue{perTask(r.queues.High.Name()), perTask(r.queues.Normal.Name()), perTask(r.queues.Low.Name())}
	return f, err
}

// cpuTime is the CPU time of this process, in user and in kernel mode.
func cpuTime() time.Duration { return used(syscall.RUSAGE_SELF) }

// childrenTime is that of its children that have ended.
func childrenTime() time.Duration { return used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
