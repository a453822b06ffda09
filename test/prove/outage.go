package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	outageWorkers     = 2
	outageConcurrency = 3
	outagePoll        = 2 * time.Second // POLL_MAX_MS of its workers
	// outageResume bounds the time from the service's return to the first attempt: one poll interval, and the whole
	// seconds that queues round up to.
	outageResume = outagePoll + time.Second
	// outageTrial is how long the worker tries to reach the model within one attempt.
	outageTrial = 15 * time.Second
)

// outageCase is a failure of a service while tasks run, wait and arrive.
type outageCase struct {
	service string // database, model, queue or blobs
	how     failing
	store   string // the workers' caller of the store
}

func outageCases() []outageCase {
	return []outageCase{
		{"database", refuses, postgresStore},
		{"database", hangs, postgresStore},
		{"database", refuses, supabaseStore},
		{"database", hangs, supabaseStore},
		{"model", is503, postgresStore},
		{"model", refuses, supabaseStore},
		{"model", hangs, postgresStore},
		{"model", is401, postgresStore}, // the key is revoked, then replaced
		{"queue", refuses, postgresStore},
		{"queue", hangs, supabaseStore},
		{"blobs", refuses, postgresStore},
		{"blobs", hangs, supabaseStore},
		{"blobs", is503, postgresStore},
	}
}

// on reports whether a case is one of its own on a queue: one in the database fails with that.
func (b outageCase) on(bed queueBed) bool { return b.service != "queue" || bed.name() != postgresQueue }

func (b outageCase) nameOn(bed queueBed) string {
	return strings.Join([]string{"outage", bed.name(), b.service, string(b.how), b.store}, "/")
}

// faultyService is the proxy or server that a service is reached through.
type faultyService interface {
	cut(how failing) (begins int)
	mend() error
}

// proveOutage makes the database fail, the model's service, the queues' server and that of the documents, while workers
// use them. Behind PostgREST the API fails.
func proveOutage(ctx context.Context, o options, r *report) (err error) {
	g, err := o.servers(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	file, err := o.built.of(ctx, "./cmd/async-worker")
	if err != nil {
		return err
	}
	beds, err := g.newBeds(ctx, o.queues)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	for _, bed := range beds {
		for _, b := range outageCases() {
			if !b.on(bed) || !o.wants(b.nameOn(bed)) || !slices.Contains(o.stores, b.store) {
				continue
			}
			group.Go(func() error {
				run := &outageRun{
					outageCase: b, name: b.nameOn(bed), seed: o.seed, length: o.outage, timed: !o.untimed, report: r,
					file: file,
				}
				if err := run.do(ctx, g, bed); err != nil {
					return fmt.Errorf("%s: %w", run.name, err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// outageRun is one outage during tasks.
type outageRun struct {
	outageCase
	*tenant
	name   string
	seed   uint64
	length time.Duration
	timed  bool
	report *report
	file   string

	env      []string
	workers  []*process
	all      []*process // also ended ones
	service  faultyService
	cutOff   int // begins whose answer was lost
	running  int // tasks that ran when it began
	mended   time.Time
	stopping []func()
}

func (o *outageRun) do(ctx context.Context, g *servers, bed queueBed) (err error) {
	if o.tenant, err = g.newTenant(ctx, bed, o.outageCase.store); err != nil {
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
	found, err := o.breakService(ctx)
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
	o.report.violated(o.name, found, log)
	return nil
}

// open puts the proxy or server in front of the service, and returns the environment of the workers.
func (o *outageRun) open() ([]string, error) {
	at, quiet := o.direct(), newFaultPlan()
	m := newModel()
	o.stopping = append(o.stopping, func() { _ = m.close() })
	m.slow(o.seed, 200*time.Millisecond, 900*time.Millisecond)
	at.model = m.url()
	switch {
	case o.outageCase.service == "model":
		o.service = m
	case o.outageCase.service == "blobs":
		p, err := interceptStorage(&at, "Blob", quiet)
		if err != nil {
			return nil, err
		}
		o.stopping = append(o.stopping, p.close)
		o.service = p
	case o.outageCase.service == "queue":
		p, err := o.bed.intercept(&at, quiet)
		if err != nil {
			return nil, err
		}
		o.stopping = append(o.stopping, p.close)
		o.service = p
	case o.outageCase.store == supabaseStore:
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

// breakService cuts the service when some tasks have ended, others run and others wait; more arrive during it.
func (o *outageRun) breakService(ctx context.Context) ([]string, error) {
	underWay := func() bool {
		ended, running, err := o.progress(ctx)
		return err == nil && ended >= 4 && running >= 2
	}
	if err := await(ctx, max(time.Minute, o.recovery), underWay, o.workers[0].Done()); err != nil {
		return nil, fmt.Errorf("the tasks never started: %w", err)
	}
	o.cutOff = o.service.cut(o.how)
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

// recover waits until all is done. A webhook that was under way when the database failed stays claimed for minutes:
// other workers deliver it.
func (o *outageRun) recover(ctx context.Context) ([]string, error) {
	deadline := o.mended.Add(max(90*time.Second, o.recovery))
	for {
		err := o.drainOrHooks(ctx, time.Until(deadline), o.workers[0].Done(), o.working)
		switch {
		case errors.Is(err, errOnlyHooks) && time.Now().Before(deadline):
			o.report.add("webhooks not waited for", 1)
			if err := errors.Join(o.end(), o.expireClaims(ctx), o.begin(ctx)); err != nil {
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

func (o *outageRun) working() bool {
	return !slices.ContainsFunc(o.workers, func(p *process) bool { return !p.working() })
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

// rpcClass is the class of a request to the API.
func rpcClass(r *http.Request, body []byte) string {
	return callClass(strings.TrimPrefix(pathEnd(r), "aw_"), body)
}
