package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// recovery is how long a tenant may take to be drained after a death: leases of 3 s run out, several times if
// attempts are lost, on a busy machine.
const recovery = 40 * time.Second

// scenario is a task that is run once for each point, with a death at that point.
type scenario struct {
	name   string
	states []string // of which the task ends in one
	env    func(dir string) []string
	text   func(t *tenant) string
	submit bool // the submitter's process dies, not the worker
}

const taskID = "task-1"

// document is small, and has more than one chunk.
const document = "# Lamp\n\nThe lamp of the pier is lit at dusk.\n\n# Pump\n\nThe pump is tried on Mondays.\n"

func scenarios() []scenario {
	none := func(string) []string { return nil }
	plain := func(t *tenant) string { return t.ingest(taskID, "doc.md", t.hooks.URL, nil) }
	fails := func(n int, more ...string) func(string) []string {
		return func(dir string) []string {
			return append([]string{
				"PROVE_MODEL_FAILS=" + strconv.Itoa(n), "PROVE_MODEL_FILE=" + filepath.Join(dir, "failed"),
			}, more...)
		}
	}
	return []scenario{
		{name: "ingest", states: []string{"succeeded"}, text: plain, env: func(string) []string {
			return []string{"PROVE_MODEL_WAIT=1500ms"} // both leases are renewed after 1 s
		}},
		{name: "retried", states: []string{"succeeded"}, env: fails(1), text: plain},
		{name: "dead-lettered", states: []string{"failed"}, env: none, text: func(t *tenant) string {
			return t.ingest(taskID, "missing.md", t.hooks.URL, nil)
		}},
		{name: "exhausted", states: []string{"failed"}, env: fails(-1, "RETRY_MAX_ATTEMPTS=2"), text: plain},
		{name: "rejected", states: []string{"failed"}, env: none, text: func(t *tenant) string {
			return t.ingest(taskID, "doc.md", t.hooks.URL, map[string]any{"document_set": nil})
		}},
		{
			name: "canceled", states: []string{"canceled"},
			env: func(string) []string { return []string{"PROVE_CANCEL=" + taskID} }, text: plain,
		},
		{name: "submitted", states: []string{"succeeded"}, env: none, text: plain, submit: true},
	}
}

// crash runs every scenario cleanly with each store, and then once for each point that the clean run met.
func crash(ctx context.Context, o options, r *report) (err error) {
	g, err := newServers(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	c := &crasher{servers: g, options: o, report: r}
	if c.file, err = g.build(ctx, "./test/prove/crashworker"); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	for _, store := range o.stores {
		for _, s := range scenarios() {
			name := "crash/" + store + "/" + s.name
			points, err := c.walk(ctx, name, s, store, "")
			if err != nil {
				return errors.Join(err, group.Wait())
			}
			r.printf("%-28s %3d points around %d calls", name, len(points), calls(points))
			for _, point := range points {
				if !o.wants(name + "/" + point) {
					continue
				}
				group.Go(func() error {
					_, err := c.walk(ctx, name+"/"+point, s, store, point)
					return err
				})
			}
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

// walk does one run: a process that ends at the point, then one that doesn't, until everything is drained. It
// returns the points that the first process met.
func (c *crasher) walk(ctx context.Context, name string, s scenario, store, point string) ([]string, error) {
	t, err := c.newTenant(ctx, store)
	if err != nil {
		return nil, err
	}
	if err := t.upload(ctx, "doc.md", document); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.dir, t.client)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	trace := filepath.Join(dir, "trace")
	env, err := t.environment(t.direct(), append(s.env(dir), "LLM_PROVIDER=offline", "PROVE_LEASE=3s")...)
	if err != nil {
		return nil, err
	}
	first := append(env[:len(env):len(env)], "PROVE_TRACE="+trace, "PROVE_POINT="+point)
	log, died, err := c.firstLife(ctx, t, s, first)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	points, err := met(trace)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var found []string
	if died || s.submit {
		found, err = c.secondLife(ctx, t, env, &log)
	}
	if err == nil && len(found) == 0 {
		found, err = t.check(ctx, c.report, deaths(died))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.count(s, point, died)
	c.report.violated(name, found, log)
	return points, os.RemoveAll(dir)
}

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
func (c *crasher) firstLife(
	ctx context.Context, t *tenant, s scenario, env []string,
) (log string, died bool, err error) {
	text := s.text(t)
	if s.submit {
		return c.submit(ctx, t, s, text, env)
	}
	if err := t.send(ctx, text, taskID, s.states...); err != nil {
		return "", false, err
	}
	p, err := start(ctx, c.file, env)
	if err != nil {
		return "", false, err
	}
	// The point may be at the worker's start, in its work, or never reached.
	if err := t.drain(ctx, recovery, p.Done()); err != nil && !errors.Is(err, errNotDrained) {
		return "", false, errors.Join(err, p.kill())
	}
	err = p.end()
	return "first life:\n" + p.log.String(), p.code() == 137, err
}

// submit runs the submitter, which dies. If it submitted nothing, its user sees that and submits again.
func (c *crasher) submit(
	ctx context.Context, t *tenant, s scenario, text string, env []string,
) (log string, died bool, err error) {
	t.expected = append(t.expected, expectation{taskID, s.states})
	died, err = c.enqueue(ctx, text, env)
	if err != nil {
		return "", false, err
	}
	var recorded int
	if err := t.db.QueryRow(ctx, `select count(*) from jobs where client_id = $1`, t.client).
		Scan(&recorded); err != nil {
		return "", false, err
	}
	if recorded == 0 {
		if _, err := c.enqueue(ctx, text, append(env[:len(env):len(env)], "PROVE_POINT=")); err != nil {
			return "", false, err
		}
	}
	// The sweep skips young submissions, since their message may be on its way.
	return "", died, t.age(ctx, time.Hour)
}

func (c *crasher) enqueue(ctx context.Context, text string, env []string) (died bool, err error) {
	cmd := command(ctx, c.file, append(env[:len(env):len(env)], "PROVE_SUBMIT=1"))
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 137 && err != nil {
		return false, fmt.Errorf("enqueue: %w\n%s", err, out)
	}
	return cmd.ProcessState.ExitCode() == 137, nil
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
	drained := t.drainOrHooks(ctx, recovery, p.Done())
	err = p.end()
	*log += "next life:\n" + p.log.String()
	switch code := p.code(); {
	case errors.Is(drained, errNotDrained):
		return []string{"I1 " + drained.Error()}, err
	case drained != nil || err != nil:
		return nil, errors.Join(drained, err)
	case code != 0 && code != endedAtStart:
		return []string{fmt.Sprintf("a process that got SIGTERM exits with %d, want 0", code)}, nil
	}
	return nil, nil
}

// endedAtStart is the exit code of a process that got SIGTERM before it handled signals.
const endedAtStart = 128 + int(syscall.SIGTERM)

// calls is the number of calls of back ends among the points.
func calls(points []string) (n int) {
	for _, point := range points {
		if strings.HasSuffix(point, ":before") {
			n++
		}
	}
	return n
}

func deaths(died bool) int {
	if died {
		return 1
	}
	return 0
}

// idle are points that are met by chance while there is nothing to do; only the first two of each are walked.
var idle = regexp.MustCompile(`^(queue\.Receive\[|store\.ClaimDeliveries|store\.ExtendDeliveries|store\.Sweep|store\.Canceling).*#(\d+):`)

// met reads the points of a trace, each once.
func met(trace string) ([]string, error) {
	text, err := os.ReadFile(trace)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var points []string
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		point, _, _ := strings.Cut(line, " ")
		if m := idle.FindStringSubmatch(point); m != nil {
			if n, err := strconv.Atoi(m[2]); err != nil || n > 2 {
				continue
			}
		}
		if !seen[point] {
			seen[point] = true
			points = append(points, point)
		}
	}
	return points, nil
}
