package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	outageWorkers     = 2
	outageConcurrency = 3
	outagePoll        = 2 * time.Second // POLL_MAX_MS of its workers
	// outageResume bounds the time from the service's return to the first attempt: one poll interval, and what
	// queues round up to, whole seconds.
	outageResume = outagePoll + time.Second
	// outageTrial is how long the worker tries to reach the model within one attempt.
	outageTrial = 15 * time.Second
)

// blackout is a service that is out of order for a while, under tasks that run, wait and arrive.
type blackout struct {
	service string // database or model
	how     failing
	store   string // the workers' caller of the store
}

func blackouts() []blackout {
	return []blackout{
		{"database", refuses, postgresStore},
		{"database", hangs, postgresStore},
		{"database", refuses, supabaseStore},
		{"database", hangs, supabaseStore},
		{"model", is503, postgresStore},
		{"model", refuses, supabaseStore},
		{"model", hangs, postgresStore},
		{"model", is401, postgresStore}, // somebody revoked the key, and gives a new one
	}
}

func (b blackout) name() string {
	return strings.Join([]string{"outage", b.service, string(b.how), b.store}, "/")
}

// entrance is what a service is reached through.
type entrance interface {
	cut(how failing, begins string) (cutOff int)
	mend() error
}

// proveOutage takes the database, and then the model's service, away from workers at their work. Behind PostgREST
// it is the API that fails.
func proveOutage(ctx context.Context, o options, r *report) (err error) {
	g, err := newGround(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	file, err := g.build(ctx, "./cmd/async-worker")
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	for _, b := range blackouts() {
		if !o.wants(b.name()) || !slices.Contains(o.stores, b.store) {
			continue
		}
		group.Go(func() error {
			run := &outageRun{blackout: b, seed: o.seed, length: o.outage, timed: !o.untimed, report: r, file: file}
			if err := run.do(ctx, g); err != nil {
				return fmt.Errorf("%s: %w", b.name(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// outageRun is one blackout under tasks.
type outageRun struct {
	blackout
	*tenant
	seed   uint64
	length time.Duration
	timed  bool
	report *report
	file   string

	env      []string
	workers  []*process
	all      []*process // that ever were
	service  entrance
	cutOff   int // begins whose answer the blackout took
	running  int // tasks that it met in the middle
	mended   time.Time
	stopping []func()
}

func (o *outageRun) do(ctx context.Context, g *ground) (err error) {
	if o.tenant, err = g.newTenant(ctx, o.blackout.store); err != nil {
		return err
	}
	defer func() {
		for _, stop := range o.stopping {
			stop()
		}
	}()
	if o.env, err = o.open(); err != nil {
		return err
	}
	if err := o.send(ctx, 1, 20); err != nil {
		return err
	}
	if err := o.begin(ctx); err != nil {
		return errors.Join(err, o.end())
	}
	found, err := o.suffer(ctx)
	if e := o.end(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, o.logs())
	}
	if len(found) == 0 {
		if found, err = o.judge(ctx); err != nil {
			return err
		}
	}
	o.report.ran()
	log := ""
	if len(found) > 0 {
		log = o.logs()
	}
	o.report.violated(o.name(), found, log)
	return nil
}

// open puts the entrance in front of the service, and returns the environment of the workers.
func (o *outageRun) open() ([]string, error) {
	at, quiet := o.direct(), newScript()
	m := newModel()
	o.stopping = append(o.stopping, func() { _ = m.close() })
	m.slow(o.seed, 200*time.Millisecond, 900*time.Millisecond)
	at.model = m.url()
	switch {
	case o.blackout.service == "model":
		o.service = m
	case o.blackout.store == supabaseStore:
		p, err := newHTTPProxy(at.api, quiet, rpcClass)
		if err != nil {
			return nil, err
		}
		o.stopping = append(o.stopping, p.close)
		o.service, at.api = p, p.server.URL
	default:
		p, url, err := newPGProxy(at.database, quiet)
		if err != nil {
			return nil, err
		}
		o.stopping = append(o.stopping, p.close)
		o.service, at.database = p, url
	}
	return o.environment(at, fmt.Sprintf("WORKER_CONCURRENCY=%d", outageConcurrency),
		fmt.Sprintf("POLL_MAX_MS=%d", outagePoll.Milliseconds()), "STEP_TIMEOUT_SEC=2", "RETRY_BACKOFF_MS=0")
}

// send puts tasks on the queue, from one number to another.
func (o *outageRun) send(ctx context.Context, from, to int) error {
	for i := from; i <= to; i++ {
		id := fmt.Sprintf("task-%03d", i)
		if err := o.upload(ctx, id+".md", fmt.Sprintf("# Watch %s\n\nThe watch of %s saw %d ships.\n", id, o.client,
			i)); err != nil {
			return err
		}
		if err := o.tenant.send(ctx, o.ingest(id, id+".md", o.hooks.URL, nil), id, "succeeded"); err != nil {
			return err
		}
	}
	return nil
}

// suffer lets the blackout come when tasks have ended, others run and others wait; more arrive in its course.
func (o *outageRun) suffer(ctx context.Context) ([]string, error) {
	underWay := func() bool {
		ended, running, err := o.progress(ctx)
		return err == nil && ended >= 4 && running >= 2
	}
	if err := await(ctx, time.Minute, underWay, o.workers[0].Done()); err != nil {
		return nil, fmt.Errorf("the tasks never got under way: %w", err)
	}
	o.cutOff = o.service.cut(o.how, "begin")
	var err error
	if _, o.running, err = o.progress(ctx); err != nil {
		return nil, errors.Join(err, o.service.mend())
	}
	const arrivals = 10
	for i := range arrivals {
		if err := pause(ctx, o.length/arrivals); err != nil {
			return nil, errors.Join(err, o.service.mend())
		}
		if err := o.send(ctx, 21+i, 21+i); err != nil {
			return nil, errors.Join(err, o.service.mend())
		}
	}
	o.mended = time.Now()
	if err := o.service.mend(); err != nil {
		return nil, err
	}
	return o.recover(ctx)
}

// recover waits until all is done. A webhook that was under way when the database went stays claimed for
// minutes: these are not waited for, but left to other workers.
func (o *outageRun) recover(ctx context.Context) ([]string, error) {
	deadline := o.mended.Add(90 * time.Second)
	for {
		err := o.drainOrHooks(ctx, time.Until(deadline), o.workers[0].Done())
		switch {
		case errors.Is(err, errOnlyHooks) && time.Now().Before(deadline):
			o.report.add("webhooks not waited for", 1)
			if err := errors.Join(o.end(), o.outlast(ctx), o.begin(ctx)); err != nil {
				return nil, err
			}
		case errors.Is(err, errNotDrained) || errors.Is(err, errOnlyHooks):
			return []string{"I1 " + err.Error()}, nil
		default:
			return nil, err
		}
	}
}

// progress is how many jobs have ended and how many run.
func (o *outageRun) progress(ctx context.Context) (ended, running int, err error) {
	err = o.db.QueryRow(ctx, `select count(*) filter (where status in ('succeeded', 'failed', 'canceled')),
		count(*) filter (where status = 'running' and lease_expires_at is not null) from jobs where client_id = $1`, o.client).Scan(&ended, &running)
	return ended, running, err
}

// begin starts the workers.
func (o *outageRun) begin(ctx context.Context) error {
	o.workers = nil
	for range outageWorkers {
		p, err := start(ctx, o.file, o.env, "run")
		if err != nil {
			return err
		}
		o.workers, o.all = append(o.workers, p), append(o.all, p)
	}
	return nil
}

func (o *outageRun) end() (err error) {
	for _, p := range o.workers {
		err = errors.Join(err, p.end())
	}
	return err
}

func (o *outageRun) logs() string {
	var b strings.Builder
	for _, p := range o.all {
		b.WriteString("a worker:\n" + p.log.String())
	}
	return b.String()
}

// aftermath is what the ledger tells of an outage.
type aftermath struct {
	Lost, Doubled, Consumed, Waited int
	Begun, Committed, Drained       *time.Time
}

// judge checks the invariants and what the outage has cost, and prints it.
func (o *outageRun) judge(ctx context.Context) ([]string, error) {
	found, err := o.check(ctx, o.report, 0)
	if err != nil {
		return found, err
	}
	rows, err := o.db.Query(ctx, `select
		(select $2 - count(*) from jobs where client_id = $1) as lost,
		(select count(*) from (select from prove.ledger where client_id = $1 and what = 'version'
		  group by job_id having count(*) > 1) d) as doubled,
		(select coalesce(sum(attempts - 1), 0) from jobs where client_id = $1) as consumed,
		(select count(*) from job_events where client_id = $1 and message like 'waiting for the %, which is down') as waited,
		(select min(at) from prove.ledger where client_id = $1 and what = 'move' and now = 'running' and at >= $3) as begun,
		(select min(at) from prove.ledger where client_id = $1 and what = 'move' and now = 'succeeded' and at >= $3) as committed,
		(select max(at) from prove.ledger where client_id = $1 and what = 'move') as drained`,
		o.client, len(o.expected), o.mended)
	if err != nil {
		return found, err
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[aftermath])
	if err != nil {
		return found, err
	}
	return append(found, o.measure(a)...), nil
}

func (o *outageRun) measure(a aftermath) (found []string) {
	o.report.add("tasks", len(o.expected))
	o.report.add("attempts consumed", a.Consumed)
	o.report.add("messages lost", a.Lost)
	o.report.add("double effects", a.Doubled)
	if o.blackout.service == "model" && a.Waited == 0 && o.length > outageTrial {
		found = append(found, "the breaker opens: no task was given back to wait for the model")
	}
	if a.Consumed > o.cutOff {
		found = append(found, fmt.Sprintf(
			"I9 an outage costs no attempt: %d were consumed, at most %d (begins whose answer it took)", a.Consumed,
			o.cutOff))
	}
	if a.Begun == nil || a.Committed == nil {
		return append(found, "nothing was left to do after the outage: it proved nothing")
	}
	since := func(t time.Time) time.Duration { return t.Sub(o.mended).Round(10 * time.Millisecond) }
	if late := since(*a.Begun); late > outageResume && o.timed {
		found = append(found, fmt.Sprintf(
			"work resumes within one poll interval: the first attempt began %v after, at most %v", late, outageResume))
	}
	o.report.say("%-34s %v, met %d running; tasks %d, lost %d, doubled %d, attempts consumed %d (at most %d); back: "+
		"first begin %v, commit %v, drained %v",
		o.name(), o.length, o.running, len(o.expected), a.Lost, a.Doubled, a.Consumed, o.cutOff, since(*a.Begun),
		since(*a.Committed), since(*a.Drained))
	return found
}

// rpcClass is the function of ours that a request to the API calls.
func rpcClass(r *http.Request, _ []byte) string { return strings.TrimPrefix(pathEnd(r), "aw_") }
