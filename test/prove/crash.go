package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// drainTime is how long a tenant may take to be drained after a death: leases of 3 s run out, several times if
// attempts are lost, on a busy machine.
const drainTime = 40 * time.Second

// crash runs every scenario cleanly with each queue and store, and then once for each point that the clean run met.
func crash(ctx context.Context, o options, r *report) (err error) {
	g, err := o.servers(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	c := &crasher{servers: g, options: o, report: r}
	if c.file, err = o.built.of(ctx, "./test/prove/crashworker"); err != nil {
		return err
	}
	beds, err := g.newBeds(ctx, o.queues)
	if err != nil {
		return err
	}
	var ways []*way
	for _, bed := range beds {
		for _, store := range o.stores {
			for _, s := range scenarios() {
				if o.scenarios != nil && !slices.Contains(o.scenarios, s.name) {
					continue
				}
				ways = append(ways, &way{scenario: s, bed: bed, store: store})
			}
		}
	}
	if err := c.cleanly(ctx, ways); err != nil {
		return err
	}
	return c.dying(ctx, ways)
}

// way is a scenario on a queue and a store.
type way struct {
	scenario
	bed    queueBed
	store  string
	points []string // that its clean run met
}

func (w *way) name() string {
	return strings.Join([]string{"crash", w.bed.name(), w.store, w.scenario.name}, "/")
}

// cleanly walks each way without a death.
func (c *crasher) cleanly(ctx context.Context, ways []*way) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.parallel)
	for _, w := range ways {
		group.Go(func() (err error) {
			w.points, err = c.walk(ctx, w, "")
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, w := range ways {
		c.report.printf("%-37s %3d points around %d calls", w.name(), len(w.points), calls(w.points))
	}
	return nil
}

// dying walks each way once for each point.
func (c *crasher) dying(ctx context.Context, ways []*way) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.parallel)
	for _, w := range ways {
		for _, point := range w.points {
			if !c.wants(w.name() + "/" + point) {
				continue
			}
			group.Go(func() error {
				_, err := c.walk(ctx, w, point)
				return err
			})
		}
	}
	return group.Wait()
}

type crasher struct {
	*servers
	options
	report *report
	file   string // the program that dies
}

// walk does one run and reports it. It returns the points that the first process met. On a busy machine a lease of 3 s
// may run out in a clean run, which leaves a second copy of a dead letter: what is wrong in one does so in the next.
func (c *crasher) walk(ctx context.Context, w *way, point string) ([]string, error) {
	name := w.name()
	if point != "" {
		name += "/" + point
	}
	points, found, log, err := c.once(ctx, w, name, point)
	if err == nil && len(found) > 0 && point == "" {
		c.report.add("clean runs made again", 1)
		points, found, log, err = c.once(ctx, w, name, point)
	}
	if err != nil {
		return nil, err
	}
	c.report.violated(name, found, log)
	return points, nil
}

// once is one run: a process that ends at the point, then one that doesn't, until everything is drained.
func (c *crasher) once(ctx context.Context, w *way, name, point string) (points, found []string, log string, err error) {
	t, err := c.newTenant(ctx, w.bed, w.store)
	if err != nil {
		return nil, nil, "", err
	}
	if err := t.upload(ctx, "doc.md", document); err != nil {
		return nil, nil, "", err
	}
	if w.paid {
		if err := t.upload(ctx, invoiceBlob, t.invoice()); err != nil {
			return nil, nil, "", err
		}
	}
	if w.files != nil {
		files, err := w.files()
		if err != nil {
			return nil, nil, "", err
		}
		for name, content := range files {
			if err := t.upload(ctx, name, content); err != nil {
				return nil, nil, "", err
			}
		}
	}
	dir := filepath.Join(c.dir, t.client)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, "", err
	}
	trace := filepath.Join(dir, "trace")
	env, err := t.environment(t.direct(), append(w.env(dir), "LLM_PROVIDER=offline", "PROVE_LEASE=3s",
		"GATEWAY_URL="+t.gateway.URL())...)
	if err != nil {
		return nil, nil, "", err
	}
	first := append(env[:len(env):len(env)], "PROVE_TRACE="+trace, "PROVE_POINT="+point)
	log, end, err := c.firstLife(ctx, t, w.scenario, first)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", name, err)
	}
	points, err = met(trace)
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if end != drained {
		found, err = c.secondLife(ctx, t, env, &log)
	}
	if err == nil && len(found) == 0 {
		// on a busy machine a copy may be on the queue although its request had no answer
		unanswered := len(unansweredCopies.FindAllString(log, -1))
		found, err = t.check(ctx, c.report, end.deaths()+unanswered)
	}
	if err == nil && len(found) == 0 && w.paid {
		found, err = t.checkPaid(ctx, c.report, points)
	}
	if err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", name, err)
	}
	c.count(w.scenario, point, end == died)
	return points, found, log, os.RemoveAll(dir)
}

// unansweredCopies are the lines of a worker about copies that may be on the queue.
var unansweredCopies = regexp.MustCompile(`can't copy a dead letter to its queue.*network_timeout`)

func (c *crasher) count(s scenario, point string, died bool) {
	c.report.ran()
	switch {
	case point == "":
		c.report.add("clean runs", 1)
	case died:
		c.report.add("deaths of "+s.name, 1)
	default:
		c.report.add("points not met again", 1) // a heartbeat more or less
	}
}

// firstLife sends the task and runs the process that is to die; without a point it runs until all is drained.
func (c *crasher) firstLife(ctx context.Context, t *tenant, s scenario, env []string) (log string, end lifeEnd, err error) {
	text := s.text(t)
	if s.submit {
		return c.submit(ctx, t, s, text, env)
	}
	if err := t.send(ctx, text, taskID, s.states...); err != nil {
		return "", late, err
	}
	p, err := start(ctx, c.file, env)
	if err != nil {
		return "", late, err
	}
	// The point may be at the worker's start, in its work, or never reached.
	left := t.drain(ctx, t.recovery, p.Done())
	if left != nil && !errors.Is(left, errNotDrained) {
		return "", late, errors.Join(left, p.kill())
	}
	err = p.end()
	log = "first life:\n" + p.log.String()
	switch {
	case p.code() == 137:
		return log, died, err
	case left != nil:
		return log, late, err
	}
	return log, drained, err
}

// lifeEnd is how a first life ended.
type lifeEnd int

const (
	drained lifeEnd = iota // and nothing is left
	died                   // at its point
	late                   // alive, and something is left: the machine is slower than the patience
)

// deaths is how many processes died.
func (e lifeEnd) deaths() int {
	if e == died {
		return 1
	}
	return 0
}

// submit runs the submitter, which dies. If it submitted nothing, its user sees that and submits again.
func (c *crasher) submit(
	ctx context.Context, t *tenant, s scenario, text string, env []string,
) (log string, end lifeEnd, err error) {
	t.expected = append(t.expected, expectation{taskID, s.states})
	killed, err := c.enqueue(ctx, text, env)
	if err != nil {
		return "", late, err
	}
	var recorded int
	if err := t.db.QueryRow(ctx, `select count(*) from jobs where client_id = $1`, t.client).
		Scan(&recorded); err != nil {
		return "", late, err
	}
	if recorded == 0 {
		if _, err := c.enqueue(ctx, text, append(env[:len(env):len(env)], "PROVE_POINT=")); err != nil {
			return "", late, err
		}
	}
	if end = late; killed { // no worker has run yet
		end = died
	}
	// The sweep skips young submissions, since their message may be on its way.
	return "", end, t.age(ctx, time.Hour)
}

// enqueue repeats a command that a back end did not answer, as its user would: the task is the same.
func (c *crasher) enqueue(ctx context.Context, text string, env []string) (died bool, err error) {
	for attempt := 1; ; attempt++ {
		cmd := command(ctx, c.file, append(env[:len(env):len(env)], "PROVE_SUBMIT=1"))
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		switch {
		case cmd.ProcessState != nil && (err == nil || cmd.ProcessState.ExitCode() == 137):
			return cmd.ProcessState.ExitCode() == 137, nil
		case attempt == 5 || !bytes.Contains(out, []byte("network_timeout")):
			return false, fmt.Errorf("enqueue: %w\n%s", err, out)
		}
	}
}

// secondLife starts a worker that does not die, and waits until all is drained. A webhook's claim that was under
// way when its process died ends after that: a third life waits for it.
func (c *crasher) secondLife(ctx context.Context, t *tenant, env []string, log *string) (found []string, err error) {
	for range 3 {
		found, err = c.liveOn(ctx, t, env, log)
		if !errors.Is(err, errOnlyHooks) {
			return found, err
		}
		c.report.add("claims of webhooks waited for again", 1)
	}
	return []string{"I1 " + err.Error()}, nil
}

func (c *crasher) liveOn(ctx context.Context, t *tenant, env []string, log *string) ([]string, error) {
	if err := t.expireClaims(ctx); err != nil {
		return nil, err
	}
	p, err := start(ctx, c.file, env)
	if err != nil {
		return nil, err
	}
	left := t.drainOrHooks(ctx, t.recovery, p.Done(), p.working)
	err = p.end()
	*log += "next life:\n" + p.log.String()
	switch code := p.code(); {
	case errors.Is(left, errNotDrained):
		return []string{"I1 " + left.Error()}, err
	case left != nil || err != nil:
		return nil, errors.Join(left, err)
	case code != 0 && code != endedAtStart:
		return []string{fmt.Sprintf("a process that got SIGTERM exits with %d, want 0", code)}, nil
	}
	return nil, nil
}

// endedAtStart is the exit code of a process that got SIGTERM before it handled signals.
const endedAtStart = 128 + int(syscall.SIGTERM)
