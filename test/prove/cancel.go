package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

const (
	cancelConcurrency = 2 // tasks of each of the two workers
	cancelBatches     = 12
	cancelModelMost   = 700 * time.Millisecond
	// cancelLatency bounds the time from a cancel request to the canceled row: a second, and a usual call of the
	// model. A call that takes much longer is canceled as well.
	cancelLatency = time.Second + cancelModelMost
)

// cancelRun is one run of the kind.
type cancelRun struct {
	*tenant
	report *report
	file   string
	store  store.Store   // most cancels are requested through it
	azure  string        // a proxy in front of blobs, which slows downloads
	length time.Duration // of a task that nobody cancels
	timed  bool

	mu      sync.Mutex
	answers map[string]answer // by task
}

// answer is the answer to the request to cancel a task.
type answer struct {
	err   error
	state string // of the job, when err is nil
}

// proveCancel cancels ingests of long documents on a slow model, on each queue: before their message exists, at random
// moments of their run, at about their commit, and afterwards.
func proveCancel(ctx context.Context, o options, r *report) error {
	for _, queue := range o.queues {
		if err := cancelOn(ctx, queue, o, r); err != nil {
			return fmt.Errorf("on %s: %w", queue, err)
		}
	}
	return nil
}

func cancelOn(ctx context.Context, queue string, o options, r *report) (err error) {
	g, err := o.servers(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	g.model.slow(o.seed, 300*time.Millisecond, cancelModelMost)
	c := &cancelRun{report: r, timed: !o.untimed, answers: map[string]answer{}}
	if c.file, err = o.built.of(ctx, "./cmd/async-worker"); err != nil {
		return err
	}
	bed, err := g.newBed(ctx, queue)
	if err != nil {
		return err
	}
	if c.tenant, err = g.newTenant(ctx, bed, postgresStore); err != nil {
		return err
	}
	if c.store, err = postgres.Open(ctx, g.pg.URL(database),
		postgres.Options{ClientID: c.client, MaxConns: 4}); err != nil {
		return err
	}
	defer c.store.Close()
	stop, err := c.slowBlobs()
	if err != nil {
		return err
	}
	defer stop()
	var workers []*process
	defer func() {
		for _, p := range workers {
			err = errors.Join(err, p.end())
		}
	}()
	for _, caller := range []string{postgresStore, supabaseStore} {
		env, err := c.workerEnv(caller)
		if err != nil {
			return err
		}
		p, err := start(ctx, c.file, env, "run")
		if err != nil {
			return err
		}
		workers = append(workers, p)
	}
	found, err := c.do(ctx, o, workers[0].Done())
	if err != nil {
		return err
	}
	r.ran()
	log := ""
	if len(found) > 0 {
		log = workers[0].log.String() + workers[1].log.String()
	}
	r.violated(c.name(), found, log)
	return nil
}

func (c *cancelRun) name() string { return "cancel/" + c.bed.name() }

// slowBlobs delays every answer about a blob.
func (c *cancelRun) slowBlobs() (stop func(), err error) {
	at, s := c.direct(), newFaultPlan()
	s.always("blob", delayed)
	p, err := interceptStorage(&at, "Blob", s)
	if err != nil {
		return nil, err
	}
	c.azure = at.azure
	return p.close, nil
}

func (c *cancelRun) workerEnv(caller string) ([]string, error) {
	at := c.direct()
	at.azure = c.azure
	t := tenant{servers: c.servers, client: c.client, store: caller, bed: c.bed} // no copy: c.tenant's expectations change
	return t.environment(at, fmt.Sprintf("WORKER_CONCURRENCY=%d", cancelConcurrency),
		"WORKER_LEASE_TTL_SEC=60") // heartbeats are too rare to notice a cancel in time
}

func (c *cancelRun) do(ctx context.Context, o options, gone <-chan struct{}) ([]string, error) {
	if err := c.measure(ctx, gone); err != nil {
		return nil, err
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(2 * cancelConcurrency)
	for i := range o.cancels {
		group.Go(func() error {
			return c.one(within, fmt.Sprintf("task-%03d", i+1), i, seeded(o.seed, fmt.Sprint("cancel/", i)))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := c.drain(ctx, max(time.Minute, c.recovery), gone); errors.Is(err, errNotDrained) {
		return []string{"I1 " + err.Error()}, nil
	} else if err != nil {
		return nil, err
	}
	return c.judge(ctx)
}

// measure runs one task in each slot, to know how long a task takes.
func (c *cancelRun) measure(ctx context.Context, gone <-chan struct{}) error {
	for i := range 2 * cancelConcurrency {
		if err := c.submit(ctx, fmt.Sprint("whole-", i), ""); err != nil {
			return err
		}
		c.expected = append(c.expected, expectation{fmt.Sprint("whole-", i), []string{"succeeded"}})
	}
	if err := c.drain(ctx, max(time.Minute, c.recovery), gone); err != nil {
		return err
	}
	var ms int64
	err := c.db.QueryRow(ctx, `select (extract(epoch from percentile_disc(0.25) within group (order by completed_at - started_at)) * 1000)::bigint
		from jobs where client_id = $1`, c.client).Scan(&ms)
	c.length = time.Duration(ms) * time.Millisecond
	c.report.printf("%s: a task that nobody cancels takes %v", c.name(), c.length)
	return err
}

// submit sends a document of many batches whose texts are all new.
func (c *cancelRun) submit(ctx context.Context, id, word string) error {
	var b strings.Builder
	for i := range 64 * cancelBatches {
		fmt.Fprintf(&b, "# Entry %d of %s\n\nThe %s watch of %s saw %d ships, and wrote of each of them.\n\n", i, id,
			word, id, i)
	}
	if err := c.upload(ctx, id+".md", b.String()); err != nil {
		return err
	}
	return c.put(ctx, c.ingest(id, id+".md", c.hooks.URL, nil))
}

// one sends a task and cancels it: a tenth before its message exists, a tenth at once, two tenths at about the
// commit, two tenths while the model is slow, and the others while they run.
func (c *cancelRun) one(ctx context.Context, id string, i int, rnd *rand.Rand) error {
	wait, word := time.Duration(rnd.Int64N(int64(c.length))), ""
	switch i % 10 {
	case 0:
		if err := c.cancel(ctx, id, i); err != nil {
			return err
		}
		return c.submit(ctx, id, word)
	case 1:
		if err := c.submit(ctx, id, word); err != nil {
			return err
		}
		return c.cancel(ctx, id, i)
	case 2, 3:
		wait = c.length*9/10 + wait/5
	case 5, 6:
		word = slowWord
	}
	if err := c.submit(ctx, id, word); err != nil {
		return err
	}
	running := func() bool {
		var n int
		err := c.db.QueryRow(ctx, `select count(*) from jobs where client_id = $1 and id = $2`, c.client, id).Scan(&n)
		return err == nil && n > 0
	}
	if err := await(ctx, max(time.Minute, c.recovery), running, nil); err != nil {
		return fmt.Errorf("%s was never started: %w", id, err)
	}
	if err := pause(ctx, wait); err != nil {
		return err
	}
	return c.cancel(ctx, id, i)
}

// cancel requests it, every fifth time by the command.
func (c *cancelRun) cancel(ctx context.Context, id string, i int) error {
	if i%5 == 4 {
		return c.command(ctx, id)
	}
	j, err := c.store.RequestCancel(ctx, id, "prove")
	if err != nil && !errors.Is(err, store.ErrTerminal) {
		return err
	}
	c.note(id, answer{err, j.Status})
	return nil
}

// exitRefused is the exit code of a command whose request the job's state refuses.
const exitRefused = 1

func (c *cancelRun) command(ctx context.Context, id string) error {
	env, err := c.workerEnv(postgresStore)
	if err != nil {
		return err
	}
	cmd := command(ctx, c.file, env)
	cmd.Args = append(cmd.Args, "jobs", "cancel", id)
	out, err := cmd.CombinedOutput()
	switch exit, failed := errors.AsType[*exec.ExitError](err); {
	case failed && exit.ExitCode() == exitRefused && strings.Contains(string(out), "already"):
		c.note(id, answer{err: store.ErrTerminal})
	case err != nil:
		return fmt.Errorf("jobs cancel: %w\n%s", err, out)
	case strings.Contains(string(out), "will stop"):
		c.note(id, answer{state: "running"})
	default:
		c.note(id, answer{state: "canceled"})
	}
	c.report.add("by the command", 1)
	return nil
}

func (c *cancelRun) note(id string, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[id] = a
	want := []string{"canceled"}
	switch {
	case a.err != nil:
		want = []string{"succeeded"}
	case a.state == "running":
		want = append(want, "succeeded") // its commit was under way
	}
	c.expected = append(c.expected, expectation{id, want})
}
