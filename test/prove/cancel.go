package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
)

const (
	cancelConcurrency = 2 // tasks of each of the two workers
	cancelBatches     = 12
	cancelModelMost   = 700 * time.Millisecond
	// cancelLatency bounds the time from a cancel request to the canceled row: a second, and a usual call of the
	// model. One that takes much longer, without a word of progress, is broken off.
	cancelLatency = time.Second + cancelModelMost
)

// canceling is one run of the kind.
type canceling struct {
	*tenant
	report *report
	file   string
	store  store.Store   // through which most cancels are asked for
	azure  string        // a proxy in front of blobs, which makes a download last
	length time.Duration // of a task that nobody cancels
	timed  bool

	mu      sync.Mutex
	answers map[string]answer // by task
}

// answer is what the request to cancel a task was answered.
type answer struct {
	err   error
	state string // of the job, when err is nil
}

// proveCancel cancels ingests of long documents on a slow model: before their message is there, at random moments
// of their run, about when they commit, and afterwards.
func proveCancel(ctx context.Context, o options, r *report) (err error) {
	g, err := newGround(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	g.model.slow(o.seed, 300*time.Millisecond, cancelModelMost)
	c := &canceling{report: r, timed: !o.untimed, answers: map[string]answer{}}
	if c.file, err = g.build(ctx, "./cmd/async-worker"); err != nil {
		return err
	}
	if c.tenant, err = g.newTenant(ctx, postgresStore); err != nil {
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
	r.violated("cancel", found, log)
	return nil
}

// slowBlobs delays every answer about a blob.
func (c *canceling) slowBlobs() (stop func(), err error) {
	at := c.direct()
	_, rest, _ := strings.Cut(at.azure, "BlobEndpoint=")
	endpoint, _, _ := strings.Cut(rest, "/devstoreaccount1")
	s := newScript()
	s.always("blob", delayed)
	p, err := newHTTPProxy(endpoint, s, classifyStorage)
	if err != nil {
		return nil, err
	}
	c.azure = strings.Replace(at.azure, endpoint, p.server.URL, 1)
	return p.close, nil
}

func (c *canceling) workerEnv(caller string) ([]string, error) {
	at := c.direct()
	at.azure = c.azure
	t := tenant{ground: c.ground, client: c.client, store: caller} // not a copy: expectations are being noted
	return t.environment(at, fmt.Sprintf("WORKER_CONCURRENCY=%d", cancelConcurrency),
		"WORKER_LEASE_TTL_SEC=60") // so that heartbeats are too rare to hear of a cancel in time
}

func (c *canceling) do(ctx context.Context, o options, gone <-chan struct{}) ([]string, error) {
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
	if err := c.drain(ctx, time.Minute, gone); errors.Is(err, errNotDrained) {
		return []string{"I1 " + err.Error()}, nil
	} else if err != nil {
		return nil, err
	}
	return c.judge(ctx)
}

// measure lets as many tasks run as there are slots, to know how long one takes.
func (c *canceling) measure(ctx context.Context, gone <-chan struct{}) error {
	for i := range 2 * cancelConcurrency {
		if err := c.submit(ctx, fmt.Sprint("whole-", i), ""); err != nil {
			return err
		}
		c.expected = append(c.expected, expectation{fmt.Sprint("whole-", i), []string{"succeeded"}})
	}
	if err := c.drain(ctx, time.Minute, gone); err != nil {
		return err
	}
	var ms int64
	err := c.db.QueryRow(ctx, `select (extract(epoch from percentile_disc(0.25) within group (order by completed_at - started_at)) * 1000)::bigint
		from jobs where client_id = $1`, c.client).Scan(&ms)
	c.length = time.Duration(ms) * time.Millisecond
	c.report.say("a task that nobody cancels takes %v", c.length)
	return err
}

// submit sends a document of many batches, none of whose texts is known yet.
func (c *canceling) submit(ctx context.Context, id, word string) error {
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

// one sends a task and cancels it: each tenth before its message is there, each tenth at once, two tenths about
// when it commits, two tenths while the model takes long about them, and the others while they run.
func (c *canceling) one(ctx context.Context, id string, i int, rnd *rand.Rand) error {
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
		word = tiresome
	}
	if err := c.submit(ctx, id, word); err != nil {
		return err
	}
	running := func() bool {
		var n int
		err := c.db.QueryRow(ctx, `select count(*) from jobs where client_id = $1 and id = $2`, c.client, id).Scan(&n)
		return err == nil && n > 0
	}
	if err := await(ctx, time.Minute, running, nil); err != nil {
		return fmt.Errorf("%s never began: %w", id, err)
	}
	if err := pause(ctx, wait); err != nil {
		return err
	}
	return c.cancel(ctx, id, i)
}

// cancel asks for it, each fifth time by the command.
func (c *canceling) cancel(ctx context.Context, id string, i int) error {
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

func (c *canceling) command(ctx context.Context, id string) error {
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
	case strings.Contains(string(out), "was asked to stop"):
		c.note(id, answer{state: "running"})
	default:
		c.note(id, answer{state: "canceled"})
	}
	c.report.add("by the command", 1)
	return nil
}

func (c *canceling) note(id string, a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[id] = a
	want := []string{"canceled"}
	switch {
	case a.err != nil:
		want = []string{"succeeded"}
	case a.state == "running":
		want = append(want, "succeeded") // its commit was on the way
	}
	c.expected = append(c.expected, expectation{id, want})
}

// ending is a task that was canceled, as its row and the ledger tell.
type ending struct {
	ID, Status, Stage string
	Placeholder       bool
	Latency           time.Duration
}

// judge checks, and prints when the cancels came and how long they took.
func (c *canceling) judge(ctx context.Context) ([]string, error) {
	found, err := c.check(ctx, c.report, 0)
	if err != nil {
		return found, err
	}
	rows, err := c.db.Query(ctx, `
		select j.id, j.status, j.placeholder, coalesce(j.completed_at - j.cancel_requested_at, '0') as latency,
		  coalesce((select e.stage from job_events e where e.client_id = j.client_id and e.job_id = j.id
		    and e.at <= j.cancel_requested_at and e.stage <> '' order by e.seq desc limit 1), 'started') as stage
		from jobs j where j.client_id = $1 and j.id like 'task-%' order by j.id`, c.client)
	if err != nil {
		return found, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[ending])
	if err != nil {
		return found, err
	}
	told, err := c.wrongWebhooks(ctx)
	return append(append(found, told...), c.figures(all)...), err
}

// wrongWebhooks: a canceled job says so, and nothing else does.
func (c *canceling) wrongWebhooks(ctx context.Context) ([]string, error) {
	rows, err := c.db.Query(ctx, `select 'the webhook of ' || j.id || ', which is ' || j.status || ', says ' || w.event
		from webhook_deliveries w join jobs j on j.client_id = w.client_id and j.id = w.job_id
		where w.client_id = $1 and (w.event = 'task.canceled') <> (j.status = 'canceled')`, c.client)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (c *canceling) figures(all []ending) (found []string) {
	var took []time.Duration
	moments := map[string]int{}
	for _, e := range all {
		a := c.answers[e.ID]
		switch {
		case e.Placeholder:
			moments["before it came"]++
		case a.err != nil:
			moments["too late"]++
		case e.Status == "succeeded":
			moments["as it committed"]++
		default:
			moments[e.Stage]++
			took = append(took, e.Latency)
			if e.Latency > cancelLatency && c.timed {
				found = append(found, fmt.Sprintf("a cancel is carried out within %v: %s took %v, in %s", cancelLatency,
					e.ID, e.Latency.Round(time.Millisecond), e.Stage))
			}
		}
		c.report.add("ended "+e.Status, 1)
	}
	var when []string
	for moment, n := range moments {
		when = append(when, fmt.Sprintf("%s %d", moment, n))
	}
	slices.Sort(when)
	c.report.say("canceled: %s", strings.Join(when, ", "))
	if len(took) == 0 {
		return append(found, "no running task was canceled: it proved nothing")
	}
	c.report.spread("from the request to the canceled row of running tasks", took)
	return found
}
