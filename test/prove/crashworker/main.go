// Command crashworker is the daemon of async-worker with every back end behind a counter, which ends or stops the
// process at one named call. `make prove` starts it; PROVE_* variables name the call.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/logging"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx)
	stop()
	if err != nil && !errors.Is(err, context.Canceled) { // got SIGTERM during its start
		fmt.Fprintln(os.Stderr, "crashworker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	o, err := readOptions(os.Getenv)
	if err != nil {
		return err
	}
	cfg, err := config.Load(config.Sources{Environ: os.Environ(), ReadFile: os.ReadFile}, config.All)
	if err != nil {
		return err
	}
	cfg.LeaseTTL = o.lease // shorter than the setting allows, so that a recovery is quick
	log, err := logging.Open(os.Stderr, logging.Options{Level: slog.LevelDebug, Format: logging.Text})
	if err != nil {
		return err
	}
	t, err := app.Open(ctx, cfg, log, app.Everything)
	if err != nil {
		return err
	}
	defer func() {
		if e := t.Close(); e != nil && err == nil {
			err = e
		}
	}()
	c, err := newCounter(o)
	if err != nil {
		return err
	}
	defer c.close()
	t.SweepEvery = o.sweep
	wrap(t, c, o)
	if o.submit {
		return submit(ctx, t)
	}
	w, err := t.NewWorker(ctx)
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// wrap puts the counter in front of every back end.
func wrap(t *app.Tenant, c *counter, o options) {
	raw := t.Store
	t.Store = countedStore{c, raw}
	t.Bucket = countedBucket{c, t.Bucket, o.cancelPut, raw}
	t.Queues = engine.Queues{
		High: countedQueue{c, t.Queues.High, "high"}, Normal: countedQueue{c, t.Queues.Normal, "normal"},
		Low: countedQueue{c, t.Queues.Low, "low"}, DeadLetter: countedQueue{c, t.Queues.DeadLetter, "deadletter"},
	}
	t.Embedder = &countedEmbedder{e: t.Embedder, c: c, options: o, cancel: raw}
}

// submit enqueues the task whose message is on stdin, as the command enqueue does.
func submit(ctx context.Context, t *app.Tenant) error {
	if err := t.EnsureQueues(ctx); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, task.MaxBytes))
	if err != nil {
		return err
	}
	decoded, err := task.Decode(string(text), task.Options{ClientID: t.Config.ClientID})
	if err != nil {
		return err
	}
	_, err = t.Enqueue(ctx, decoded.Task)
	return err
}

// options are the PROVE_ variables.
type options struct {
	point  string        // where to end, e.g. "store.Begin#1:before"; empty: nowhere
	stop   bool          // SIGSTOP there instead of an exit
	trace  string        // file that each call is written to; empty: none
	lease  time.Duration // of messages and jobs
	sweep  time.Duration // how often lost messages are looked for; zero: as the daemon does
	submit bool          // enqueue a task instead of working

	modelFails int           // this many calls of the model fail, over all processes; below zero: all
	modelFile  string        // counts them
	modelWait  time.Duration // before each call of the model, so that leases are renewed meanwhile
	cancelPut  string        // the first upload requests this task's cancel, and then hangs
	cancelTask string        // the model's call requests this task's cancel, and then hangs
}

func readOptions(env func(string) string) (o options, err error) {
	o = options{
		point: env("PROVE_POINT"), stop: env("PROVE_STOP") != "", trace: env("PROVE_TRACE"),
		submit:    env("PROVE_SUBMIT") != "",
		modelFile: env("PROVE_MODEL_FILE"), cancelTask: env("PROVE_CANCEL"), cancelPut: env("PROVE_CANCEL_PUT"), lease: 3 * time.Second,
	}
	for name, d := range map[string]*time.Duration{
		"PROVE_LEASE": &o.lease, "PROVE_MODEL_WAIT": &o.modelWait, "PROVE_SWEEP": &o.sweep,
	} {
		if s := env(name); s != "" {
			if *d, err = time.ParseDuration(s); err != nil {
				return o, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if s := env("PROVE_MODEL_FAILS"); s != "" {
		if _, err = fmt.Sscan(s, &o.modelFails); err != nil {
			return o, fmt.Errorf("PROVE_MODEL_FAILS: %w", err)
		}
	}
	return o, nil
}
