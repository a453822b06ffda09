package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// The comparison with River: tasks at a time, and of a round.
const (
	besideTasks = 64
	besideRound = 4000
)

// worker is one of the compared workers.
type worker interface {
	fill(ctx context.Context) error // adds a round's tasks
	work(ctx context.Context) (figures, error)
	close() error // ends its sessions with the database
}

// contender is a worker that can be started, and its figures.
type contender struct {
	name, completes string
	connections     int32
	afterCrash      string // what it does with a task whose end nobody has answered for yet
	database        string
	start           func(ctx context.Context) (worker, error)

	running        worker
	counts         counts
	rate, cpu, sql []float64 // of each round; CPU time of the worker and of Postgres, in seconds a task
}

// besideRiver compares the worker with River on one Postgres, first with durability off, so that the work is
// measured, and then with Postgres' own settings.
func besideRiver(ctx context.Context, out io.Writer, stub string) error {
	dir, err := os.MkdirTemp("", "async-worker-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := buildRiver(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nA no-op task, concurrency %d, compared with River (rounds of %d, alternating; medians of %d "+
		"rounds after a warm-up round).\n",
		besideTasks, besideRound, rounds)
	fmt.Fprint(out, "River finds its jobs in its table; the worker receives its tasks from the queue stub, and records "+
		"them.\n"+
		"Concurrent begins and completions of the worker share a transaction; each is answered after the commit.\n"+
		"Statements are pg_stat_statements', commits pg_stat_database's, in a round of their own.\n")
	for _, settings := range [][]string{
		{"synchronous_commit=off"},
		{"fsync=on", "full_page_writes=on", "synchronous_commit=on"},
	} {
		if err := besideRiverWith(ctx, out, stub, program, settings); err != nil {
			return err
		}
	}
	return nil
}

func besideRiverWith(ctx context.Context, out io.Writer, stub, program string, settings []string) (err error) {
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Settings: append([]string{
		"shared_preload_libraries=pg_stat_statements", "max_connections=400", "shared_buffers=256MB",
	}, settings...)})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	s, err := watch(ctx, pg)
	if err != nil {
		return err
	}
	defer s.close()
	contenders := []*contender{
		riverContender(pg, program, "batched, as it is by default", "batched", 100*time.Millisecond),
		riverContender(pg, program, "batched, fetches at once", "batched", time.Millisecond),
		riverContender(pg, program, "each in its transaction", "single", time.Millisecond),
		ourContender(pg, stub),
	}
	for _, c := range contenders {
		if err := ensureDatabase(ctx, pg, c.database); err != nil {
			return err
		}
		if err := c.countStatements(ctx, s); err != nil {
			return fmt.Errorf("%s, %s: %w", c.name, c.completes, err)
		}
	}
	if err := takeTurns(ctx, s, contenders); err != nil {
		return err
	}
	text, err := s.settings(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n\n", text)
	printBeside(out, contenders)
	return nil
}

func riverContender(pg *stack.Postgres, program, completes, mode string, cooldown time.Duration) *contender {
	database := fmt.Sprintf("river_%s_%d", mode, cooldown.Milliseconds())
	after := map[string]string{"batched": "runs jobs that had ended again", "single": "runs what was not committed again"}
	return &contender{
		name: "River", completes: completes, database: database, connections: besideTasks + 2, afterCrash: after[mode],
		start: func(ctx context.Context) (worker, error) {
			return startRiver(ctx, program, pg.URL(database), mode, besideRound, 1, cooldown)
		},
	}
}

func ourContender(pg *stack.Postgres, stub string) *contender {
	return &contender{
		name: "async-worker", completes: "with those under way", database: "bench",
		connections: postgres.PoolFor(besideTasks), afterCrash: "runs what was not committed again",
		start: func(ctx context.Context) (worker, error) {
			jobs, err := openJobs(ctx, pg, besideTasks)
			return &ourWorker{stub: stub, jobs: jobs}, err
		},
	}
}

// countStatements runs one round and counts every statement.
func (c *contender) countStatements(ctx context.Context, s *server) error {
	if err := s.count(ctx, true); err != nil {
		return err
	}
	w, err := c.start(ctx)
	if err != nil {
		return err
	}
	if err := w.fill(ctx); err != nil {
		return err
	}
	before, err := s.counts(ctx, c.database)
	if err != nil {
		return err
	}
	if _, err := w.work(ctx); err != nil {
		return err
	}
	if err := w.close(); err != nil {
		return err
	}
	if err := s.alone(ctx, c.database); err != nil {
		return err
	}
	after, err := s.counts(ctx, c.database)
	c.counts = after.minus(before)
	return err
}

// takeTurns warms all up, and then runs a round of each, several times.
func takeTurns(ctx context.Context, s *server, contenders []*contender) error {
	if err := s.count(ctx, false); err != nil {
		return err
	}
	for _, c := range contenders {
		var err error
		if c.running, err = c.start(ctx); err != nil {
			return err
		}
	}
	for round := range rounds + 1 {
		for _, c := range contenders {
			if err := c.round(ctx, s, round > 0); err != nil {
				return fmt.Errorf("%s, %s: %w", c.name, c.completes, err)
			}
		}
	}
	for _, c := range contenders {
		if err := c.running.close(); err != nil {
			return err
		}
	}
	return nil
}

func (c *contender) round(ctx context.Context, s *server, counts bool) error {
	if err := c.running.fill(ctx); err != nil {
		return err
	}
	before, err := s.cpu()
	if err != nil {
		return err
	}
	f, err := c.running.work(ctx)
	if err != nil {
		return err
	}
	after, err := s.cpu()
	if counts {
		c.rate = append(c.rate, besideRound/f.took.Seconds())
		c.cpu = append(c.cpu, f.cpu.Seconds()/besideRound)
		c.sql = append(c.sql, (after-before).Seconds()/besideRound)
	}
	return err
}

func printBeside(out io.Writer, contenders []*contender) {
	single := contenders[len(contenders)-2]
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tcompletes\ttasks/s\tCPU ms/task\tPostgres CPU ms/task\tstatements/task\tin "+
		"functions\tcommits/task\tratio\tconnections\tafter a crash\t")
	for _, c := range contenders {
		ratio := make([]float64, len(c.rate))
		for i := range ratio {
			ratio[i] = c.rate[i] / single.rate[i]
		}
		per := func(n float64) float64 { return n / besideRound }
		fmt.Fprintf(t, "%s\t%s\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%d\t%s\t\n", c.name, c.completes, median(c.rate),
			1e3*median(c.cpu), 1e3*median(c.sql),
			per(c.counts.sent), per(c.counts.inner), per(c.counts.commits), median(ratio), c.connections, c.afterCrash)
	}
	_ = t.Flush()
}

// ourWorker is the engine in this process.
type ourWorker struct {
	stub string
	jobs store.Store
	next *rig
}

func (w *ourWorker) fill(ctx context.Context) (err error) {
	if w.next, err = newRig(ctx, w.stub, w.jobs, besideTasks); err != nil {
		return err
	}
	q, err := bareQueue(w.stub, task.QueueNames(client).Normal)
	if err != nil {
		return err
	}
	series := fmt.Sprint("beside.", time.Now().UnixNano())
	return fill(ctx, q, besideRound, func(i int) string { return message(series, 0, i) })
}

func (w *ourWorker) work(ctx context.Context) (figures, error) {
	return w.next.measure(ctx, besideRound)
}

func (w *ourWorker) close() error {
	w.jobs.Close()
	return nil
}
