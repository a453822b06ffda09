// Command river runs no-op jobs with River (riverqueue.com), for the benchmark in the folder above, which starts it
// and exchanges lines with it over standard input and output. It is a module of its own, so that nothing else
// depends on River.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"golang.org/x/sync/errgroup"
)

func main() {
	// The connection string is not an argument: everybody can read those.
	url := os.Getenv("RIVER_DATABASE_URL")
	var o options
	flag.StringVar(&o.mode, "mode", "batched",
		"how jobs are completed: batched (River's completer) or single (each in a transaction of its own)")
	flag.IntVar(&o.workers, "workers", 64, "jobs at a time; there are two more connections")
	flag.IntVar(&o.jobs, "jobs", 1000, "jobs of a round")
	flag.IntVar(&o.insert, "insert", 1, "through: jobs of each transaction that inserts")
	flag.DurationVar(&o.cooldown, "cooldown", river.FetchCooldownDefault, "the least time between two fetches")
	flag.Parse()
	if err := run(context.Background(), url, o, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

type options struct {
	mode          string
	workers, jobs int
	insert        int
	cooldown      time.Duration
}

// Done is the answer to "work".
type done struct {
	Took time.Duration `json:"took"` // from the client's start to the last job's end
	CPU  time.Duration `json:"cpu"`  // of this process meanwhile
}

// run migrates, and then obeys lines: "fill" inserts a round's jobs, "work" runs them, and "through" does both at the
// same time. It answers each by a line,
// and returns at the end of the input.
func run(ctx context.Context, url string, o options, in io.Reader, out io.Writer) error {
	if o.mode != "single" && o.mode != "batched" {
		return fmt.Errorf("-mode %q is neither batched nor single", o.mode)
	}
	if err := migrate(ctx, url); err != nil {
		return err
	}
	pool, err := open(ctx, url, o.workers+2)
	if err != nil {
		return err
	}
	defer pool.Close()
	answer := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var d done
		switch command := strings.TrimSpace(lines.Text()); command {
		case "fill":
			err = fill(ctx, url, o.jobs)
		case "work":
			d, err = work(ctx, pool, o, nil)
		case "through":
			d, err = through(ctx, url, pool, o)
		default:
			err = fmt.Errorf("unknown command %q", command)
		}
		if err != nil {
			return err
		}
		if err := answer.Encode(d); err != nil {
			return err
		}
	}
	return lines.Err()
}

// open returns a pool of at most conns connections.
func open(ctx context.Context, url string, conns int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("RIVER_DATABASE_URL is not a connection string")
	}
	config.MaxConns = int32(conns)
	config.ConnConfig.RuntimeParams["application_name"] = "river"
	return pgxpool.NewWithConfig(ctx, config)
}

func migrate(ctx context.Context, url string) error {
	pool, err := open(ctx, url, 2)
	if err != nil {
		return err
	}
	defer pool.Close()
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// fill inserts n jobs over connections of its own and closes them, so that their work is in the server's statistics
// before the measurement begins.
func fill(ctx context.Context, url string, n int) error {
	pool, err := open(ctx, url, 2)
	if err != nil {
		return err
	}
	defer pool.Close()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		return err
	}
	params := make([]river.InsertManyParams, n)
	for i := range params {
		params[i] = river.InsertManyParams{Args: noopArgs{I: i}}
	}
	_, err = client.InsertManyFast(ctx, params)
	return err
}

type noopArgs struct {
	I int `json:"i"`
}

func (noopArgs) Kind() string { return "noop" }

// noop does nothing. With a pool it completes its job in a transaction of its own, like a worker whose effects are
// committed with the job.
type noop struct {
	river.WorkerDefaults[noopArgs]
	pool *pgxpool.Pool
	end  func()
}

func (w *noop) Work(ctx context.Context, job *river.Job[noopArgs]) error {
	if w.pool == nil {
		return nil
	}
	tx, err := w.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // a no-op after a commit
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	w.end()
	return nil
}

// senders insert jobs, -insert of them in each transaction, over a connection each.
const senders = 8

// through runs jobs while they are inserted. Those that it inserts are all that it runs.
func through(ctx context.Context, url string, pool *pgxpool.Pool, o options) (done, error) {
	own, err := open(ctx, url, senders)
	if err != nil {
		return done{}, err
	}
	defer own.Close()
	client, err := river.NewClient(riverpgxv5.New(own), &river.Config{})
	if err != nil {
		return done{}, err
	}
	return work(ctx, pool, o, func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(senders)
		for first := 0; first < o.jobs; first += o.insert {
			group.Go(func() error {
				if o.insert == 1 {
					_, err := client.Insert(ctx, noopArgs{I: first}, nil)
					return err
				}
				var many []river.InsertManyParams
				for i := first; i < min(first+o.insert, o.jobs); i++ {
					many = append(many, river.InsertManyParams{Args: noopArgs{I: i}})
				}
				_, err := client.InsertManyFast(ctx, many)
				return err
			})
		}
		return group.Wait()
	})
}

// work runs the existing jobs, or those that insert inserts meanwhile.
func work(ctx context.Context, pool *pgxpool.Pool, o options, insert func() error) (done, error) {
	var ended atomic.Int64
	reached := make(chan struct{})
	w := &noop{end: func() {
		if ended.Add(1) == int64(o.jobs) {
			close(reached)
		}
	}}
	if o.mode == "single" {
		w.pool = pool
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: o.workers}}, Workers: workers,
		FetchCooldown: o.cooldown,
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return done{}, err
	}
	if o.mode == "batched" {
		events, cancel := client.SubscribeConfig(&river.SubscribeConfig{
			ChanSize: o.jobs, Kinds: []river.EventKind{river.EventKindJobCompleted},
		})
		defer cancel()
		go func() {
			for range events {
				w.end()
			}
		}()
	}
	cpu, began := cpuTime(), time.Now()
	if err := client.Start(ctx); err != nil {
		return done{}, err
	}
	if insert != nil {
		began = time.Now()
		if err := insert(); err != nil {
			return done{}, err
		}
	}
	select {
	case <-reached:
	case <-time.After(3 * time.Minute):
		return done{}, fmt.Errorf("only %d of %d jobs were done within 3 minutes", ended.Load(), o.jobs)
	}
	d := done{Took: time.Since(began), CPU: cpuTime() - cpu}
	return d, client.Stop(ctx)
}

// cpuTime is the CPU time of this process, in user and in kernel mode.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
