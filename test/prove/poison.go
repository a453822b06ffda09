package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	poisonTasks  = 4
	poisonEvery  = 5 * time.Second // a healthy task is sent
	poisonCalls  = 15              // of its service that one poison task may cost
	poisonStarts = 6               // of one that takes its service down
	poisonRuns   = 5               // of one that reach the database: others may take it down before
	poisonWorks  = 10 * time.Second
	// bounds of the 95th percentile of healthy tasks: of a service that fails at some, and one that they end
	poisonDies = time.Minute
)

// poisonCase is tasks at which their service fails or dies each time, among healthy ones.
type poisonCase struct {
	service, how string
	dies         bool // the service
	serve        func(p *poisonRun, at *addresses) (*toxin, []string, error)
	message      func(ctx context.Context, p *poisonRun, id string) (string, error)
}

func poisonCases() []poisonCase {
	return []poisonCase{
		{"model", "500", false, toxicModel(500), markdownTask},
		{"model", "503", false, toxicModel(503), markdownTask}, // a proxy that rejects the content
		{"ocr", "500", false, toxicOCR, scanTask},
		{"docling", "dies", true, toxicDocling, markdownTask},
		{"database", "cuts", false, toxicDatabase(false), markdownTask}, // the connection
		{"database", "dies", true, toxicDatabase(true), markdownTask},
	}
}

func (p poisonCase) nameOn(bed queueBed) string {
	return strings.Join([]string{"poison", bed.name(), p.service, p.how}, "/")
}

// provePoison sends some poison tasks, and a healthy one every few seconds.
func provePoison(ctx context.Context, o options, r *report) (err error) {
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
		for _, p := range poisonCases() {
			if !o.wants(p.nameOn(bed)) {
				continue
			}
			group.Go(func() error {
				run := &poisonRun{
					poisonCase: p, bed: bed, length: o.poison, timed: !o.untimed, report: r, sent: map[string]time.Time{},
				}
				if err := run.do(ctx, g, file); err != nil {
					return fmt.Errorf("%s: %w", run.name(), err)
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// poisonRun is one poisoning.
type poisonRun struct {
	poisonCase
	*tenant
	bed    queueBed
	length time.Duration
	timed  bool
	report *report
	sent   map[string]time.Time
	toxin  *toxin
}

func (p *poisonRun) name() string { return p.nameOn(p.bed) }

func (p *poisonRun) do(ctx context.Context, g *servers, file string) (err error) {
	if p.tenant, err = g.newTenant(ctx, p.bed, postgresStore); err != nil {
		return err
	}
	at := p.direct()
	var more []string
	if p.toxin, more, err = p.serve(p, &at); err != nil {
		return err
	}
	defer p.toxin.close()
	env, err := p.environment(at, append(more, "WORKER_CONCURRENCY=4", "RETRY_BACKOFF_MS=0")...)
	if err != nil {
		return err
	}
	worker, err := start(ctx, file, env, "run")
	if err != nil {
		return err
	}
	found, err := p.sendAndWait(ctx, worker)
	err = errors.Join(err, worker.end())
	if err != nil {
		return fmt.Errorf("%w\n%s", err, worker.log.String())
	}
	p.report.ran()
	p.report.violated(p.name(), found, worker.log.String())
	return nil
}

// sendAndWait sends the tasks, and waits until all have ended.
func (p *poisonRun) sendAndWait(ctx context.Context, worker *process) ([]string, error) {
	began := time.Now()
	if err := p.put(ctx, "healthy-0", "succeeded"); err != nil { // the worker runs before the others arrive
		return nil, err
	}
	if err := pause(ctx, poisonEvery); err != nil {
		return nil, err
	}
	for i := 1; i <= poisonTasks; i++ {
		if err := p.put(ctx, fmt.Sprintf("poison-%d", i), "failed"); err != nil {
			return nil, err
		}
	}
	for i := 1; time.Since(began) < p.length || p.waits(ctx) && time.Since(began) < 3*p.length; i++ {
		if err := p.put(ctx, fmt.Sprintf("healthy-%d", i), "succeeded"); err != nil {
			return nil, err
		}
		if err := pause(ctx, poisonEvery); err != nil {
			return nil, err
		}
	}
	err := p.drain(ctx, max(90*time.Second, p.recovery), worker.Done())
	if errors.Is(err, errNotDrained) {
		return []string{"I11 every accepted task ends: " + err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	return p.judge(ctx, worker.log.String())
}

// waits reports whether poison has not ended yet: what breaks only the database needs other tasks to be found.
func (p *poisonRun) waits(ctx context.Context) (some bool) {
	err := p.db.QueryRow(ctx, `select exists (select from jobs where client_id = $1 and id like 'poison-%' and status in ('pending', 'running'))`,
		p.client).Scan(&some)
	return err == nil && some
}

// put sends one task, and records the time.
func (p *poisonRun) put(ctx context.Context, id, ends string) error {
	text, err := p.message(ctx, p, id)
	if err != nil {
		return err
	}
	p.sent[id] = time.Now()
	return p.tenant.send(ctx, text, id, ends)
}

// ended is a job at its end.
type ended struct {
	ID, Class       string
	Attempts, Tries int
	Begun, At       time.Time
}

// judge checks the invariants, and the cost of the poison.
func (p *poisonRun) judge(ctx context.Context, log string) ([]string, error) {
	copies := len(unansweredCopies.FindAllString(log, -1))
	if p.service == "database" {
		copies += p.toxin.deaths() // each between a dead letter's copy and the note that it was sent
	}
	found, err := p.check(ctx, p.report, copies)
	if err != nil {
		return found, err
	}
	rows, err := p.db.Query(ctx, `select id, coalesce(error_class, '') as class, attempts, coalesce(started_at, completed_at) as begun, completed_at as at,
		(select count(*) from job_events e where e.client_id = j.client_id and e.job_id = j.id
		  and e.stage = 'started') as tries
		from jobs j where client_id = $1`, p.client)
	if err != nil {
		return found, err
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByName[ended])
	if err != nil {
		return found, err
	}
	var healthy []time.Duration
	var last, begun time.Duration
	calls, tries, worst := 0, 0, ""
	for _, j := range jobs {
		took := j.At.Sub(p.sent[j.ID])
		if strings.HasPrefix(j.ID, "healthy") {
			healthy, begun = append(healthy, took), max(begun, j.Begun.Sub(p.sent[j.ID]))
			if j.Attempts > 1 && !p.dies {
				found = append(found, fmt.Sprintf("I9 the failures of others cost a task no attempt: %s took %d", j.ID,
					j.Attempts))
			}
			continue
		}
		starts := p.starts(j)
		if starts == 0 {
			found = append(found, fmt.Sprintf("%s never reached its service: it was blamed for what others did; its "+
				"events:\n%s", j.ID, p.events(ctx, j.ID)))
		}
		if starts > tries {
			tries, worst = starts, j.ID
		}
		last, calls = max(last, took), max(calls, p.toxin.calls(j.ID))
	}
	slices.Sort(healthy)
	p95 := healthy[(len(healthy)*95+99)/100-1]
	bound := poisonWorks
	if p.dies {
		bound = poisonDies
	}
	if p95 > bound && p.timed {
		found = append(found, fmt.Sprintf("poison delays no other task: 95 of 100 healthy ones took %v, at most %v",
			p95, bound))
	}
	mostStarts := map[bool]int{true: poisonRuns, false: poisonStarts}[p.service == "database"]
	if calls > poisonCalls || tries > mostStarts {
		found = append(found, fmt.Sprintf(
			"I11 poison ends: a task made %d calls and was begun %d times, at most %d and %d; the events of %s:\n%s",
			calls, tries, poisonCalls, mostStarts, worst, p.events(ctx, worst)))
	}
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
	p.report.add("poison tasks", poisonTasks)
	p.report.add("healthy tasks", len(healthy))
	p.report.printf("%-26s %d poison tasks in the dead letters after at most %v, %d starts and %d calls each; %d "+
		"healthy: median %v, p95 %v, at most %v; first begun after at most %v",
		p.name(), poisonTasks, round(last), tries, calls, len(healthy), round(healthy[len(healthy)/2]), round(p95),
		round(healthy[len(healthy)-1]), round(begun))
	return found, nil
}

// starts is how often a poison task was begun; of the database those that reached it, since a task is also begun while
// another one has taken the database down, and by a begin whose answer is lost.
func (p *poisonRun) starts(j ended) int {
	if p.service == "database" {
		return p.toxin.reached(j.ID)
	}
	return j.Tries
}

// markdownTask ingests a document that names its task.
func markdownTask(ctx context.Context, p *poisonRun, id string) (string, error) {
	if err := p.upload(ctx, id+".md", fmt.Sprintf("# Watch %s\n\nThe watch of %s saw %s.\n", id, p.client,
		id)); err != nil {
		return "", err
	}
	return p.ingest(id, id+".md", p.hooks.URL, nil), nil
}
