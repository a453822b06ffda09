package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// staleWrite is a write before which a worker is stopped, and the task that leads to it.
type staleWrite struct {
	point   string
	task    string // a scenario's name
	state   string // in which the task ends
	running bool   // the zombie resumes while its successor still runs: only the fence refuses it
}

// staleWrites are all kinds of writes under a fence. The commit of a success is the most frequent.
func staleWrites() []staleWrite {
	return []staleWrite{
		{"store.Complete#1", "ingest", "succeeded", true},
		{"store.Complete#1", "ingest", "succeeded", false},
		{"store.StageChunks#1", "ingest", "succeeded", true},
		{"store.Fail#1", "dead-lettered", "failed", true},
		{"store.Retry#1", "retried", "succeeded", true},
		{"store.Complete#1", "ingest", "succeeded", true},
		{"store.Fail#1", "dead-lettered", "failed", false},
		{"store.StageDocument#1", "ingest", "succeeded", false},
		{"store.Complete#1", "ingest", "succeeded", true},
		{"store.Canceled#1", "canceled", "canceled", false},
	}
}

// last is the write by which its successor ends the task.
func (s staleWrite) last() string {
	if s.state == "failed" {
		return "store.Fail#1"
	}
	return "store.Complete#1"
}

// zombie stops a worker at a write for longer than its lease, lets another one take the task, resumes the first one
// before or after the other has finished, and checks the result of the first one's write.
func zombie(ctx context.Context, o options, r *report) (err error) {
	g, err := o.servers(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	z := &crasher{servers: g, options: o, report: r}
	if z.file, err = o.built.of(ctx, "./test/prove/crashworker"); err != nil {
		return err
	}
	beds, err := g.newBeds(ctx, o.queues)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.parallel)
	for _, bed := range beds {
		for i := range o.tries {
			s := staleWrites()[i%len(staleWrites())]
			store := o.stores[(i+i/len(staleWrites()))%len(o.stores)]
			name := fmt.Sprintf("zombie/%s/%s/%02d/%s", bed.name(), store, i+1, s.point)
			group.Go(func() error {
				if err := z.runZombie(ctx, name, s, bed, store); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return nil
			})
		}
	}
	for _, bed := range beds {
		for _, store := range o.stores {
			name := fmt.Sprintf("zombie/%s/%s/stale-ack", bed.name(), store)
			group.Go(func() error {
				if err := z.runStaleAck(ctx, name, bed, store); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				return nil
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	r.printf("stale writes refused: %d of %d", r.counted("stale writes refused"), o.tries*len(beds))
	return nil
}

func (c *crasher) runZombie(ctx context.Context, name string, s staleWrite, bed queueBed, store string) error {
	t, err := c.newTenant(ctx, bed, store)
	if err != nil {
		return err
	}
	if err := t.upload(ctx, "doc.md", document); err != nil {
		return err
	}
	dir := filepath.Join(c.dir, t.client)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	task := scenarioNamed(s.task)
	env, err := t.environment(t.direct(), append(task.env(dir), "LLM_PROVIDER=offline", "PROVE_LEASE=3s")...)
	if err != nil {
		return err
	}
	if err := t.send(ctx, task.text(t), taskID, s.state); err != nil {
		return err
	}
	trace := filepath.Join(dir, "trace")
	first, err := start(ctx, c.file, append(env[:len(env):len(env)], "PROVE_TRACE="+trace,
		"PROVE_POINT="+s.point+":before", "PROVE_STOP=1"))
	if err != nil {
		return err
	}
	found, err := c.resume(ctx, t, first, env, trace, s)
	if e := first.kill(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	c.report.ran()
	c.report.violated(name, found, "the zombie:\n"+first.log.String())
	return nil
}

// resume runs one zombie, whose process has started.
func (c *crasher) resume(
	ctx context.Context, t *tenant, zombie *process, env []string, trace string, s staleWrite,
) ([]string, error) {
	if err := await(ctx, t.recovery, zombie.stopped, zombie.Done()); err != nil {
		return nil, fmt.Errorf("the worker never reached %s: %w\n%s", s.point, err, zombie.log)
	}
	if s.running {
		env = append(env[:len(env):len(env)], "PROVE_STOP=1", "PROVE_POINT="+s.last()+":before")
	}
	second, err := start(ctx, c.file, env)
	if err != nil {
		return nil, err
	}
	found, err := c.resumeBesideSuccessor(ctx, t, zombie, second, trace, s)
	if e := second.end(); err == nil {
		err = e
	}
	if err != nil || len(found) > 0 {
		return found, err
	}
	return t.check(ctx, c.report, 1)
}

// resumeBesideSuccessor resumes the zombie when its successor has reached a point, and lets the successor finish.
func (c *crasher) resumeBesideSuccessor(
	ctx context.Context, t *tenant, zombie, second *process, trace string, s staleWrite,
) (found []string, err error) {
	if s.running {
		if err := await(ctx, t.recovery, second.stopped, second.Done()); err != nil {
			return nil, fmt.Errorf("the second worker never reached %s: %w\n%s", s.last(), err, second.log)
		}
	} else if err := t.drain(ctx, t.recovery, second.Done()); err != nil {
		found = append(found, "I1 beside a stopped worker: "+err.Error()+"\n"+second.log.String())
		return found, nil //nolint:nilerr // a finding
	}
	before, err := t.ledgerLength(ctx)
	if err != nil {
		return nil, err
	}
	if found, err = c.finishWrite(ctx, zombie, trace, s); err != nil {
		return found, err
	}
	after, err := t.ledgerLength(ctx)
	if err != nil {
		return found, err
	}
	if after != before {
		found = append(found, fmt.Sprintf("I4 a zombie commits nothing: the ledger grew from %d to %d", before, after))
	}
	if err := syscall.Kill(second.Pid(), syscall.SIGCONT); err != nil {
		return found, err
	}
	if err := t.drain(ctx, t.recovery, second.Done()); err != nil {
		found = append(found, "I1 after a zombie: "+err.Error()+"\n"+second.log.String())
	}
	return found, nil
}

// finishWrite lets the zombie write, and end.
func (c *crasher) finishWrite(
	ctx context.Context, zombie *process, trace string, s staleWrite,
) (found []string, err error) {
	if err := syscall.Kill(zombie.Pid(), syscall.SIGCONT); err != nil {
		return nil, err
	}
	verdict, staged, point := "", strings.HasPrefix(s.point, "store.Stage"), s.point
	written := func() bool {
		verdict = resultOf(trace, point+":after")
		if verdict == "error" && !staged { // its time was over before it was sent: an outcome is tried again
			verdict, point = "", following(point)
		}
		return verdict != ""
	}
	if err := await(ctx, c.recovery, written, zombie.Done()); err != nil {
		return nil, fmt.Errorf("the zombie's write never ended: %w", err)
	}
	switch {
	case verdict == "fenced":
		c.report.add("stale writes refused", 1)
	// Its heartbeat was refused first, and ended the attempt.
	case verdict == "error" && staged:
		c.report.add("stale writes refused", 1)
		c.report.add("of them canceled before they were sent", 1)
	default:
		found = append(found, fmt.Sprintf("I4 a stale write is refused: %s ended with %q", s.point, verdict))
	}
	if s.running {
		c.report.add("of them while the successor ran", 1)
		return found, zombie.kill() // it might take the task again, since its successor is stopped
	}
	return found, zombie.end()
}

// following is the point of the next call of the same name: store.Complete#2 after store.Complete#1.
func following(point string) string {
	name, number, _ := strings.Cut(point, "#")
	n, _ := strconv.Atoi(number) // a point has one
	return fmt.Sprintf("%s#%d", name, n+1)
}

// await polls every 20 ms until so returns true.
func await(ctx context.Context, patience time.Duration, so func() bool, gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-gone:
			return errors.New("the process ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
