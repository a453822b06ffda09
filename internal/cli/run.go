package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/systemd"
)

func (p *program) newRunCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Do the tenant's tasks until stopped",
		Long: `run takes tasks from the tenant's queues and does them. SIGTERM or SIGINT (Ctrl-C) drains: running tasks
may finish within DRAIN_MAX_SEC, no new ones are taken, and those that have not started are given back. A second
signal also gives back running tasks, without counting the attempt; a third ends the process. SIGUSR1 polls the
queues now. SIGHUP reads the settings again; see reload.

Each flag is also a setting, under the name in brackets: an environment variable, a systemd credential, or, with
_FILE appended, the name of a file. Secrets have no flag, because others can read flags:

` + secretSettings(p.width()),
		Example: `  async-worker run --client-id southhaven
  LLM_PROVIDER=offline async-worker run --worker-concurrency 2 --log-level debug`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			p.daemon = true
			cfg, log, err := p.settings(cmd, config.All)
			if err != nil {
				return p.withUnit(cmd, err)
			}
			return p.serve(cmd.Context(), p.sources(cmd), cfg, log)
		}),
	}
	addSettings(cmd, config.All)
	return cmd
}

// secretSettings lists the secret settings, which have no flag.
func secretSettings(width int) string {
	var b strings.Builder
	for _, s := range config.Settings() {
		if s.Secret {
			entry(&b, 35, s.Name, s.Help, width)
		}
	}
	return b.String()
}

// serve runs the daemon. A requested stop is a success at any time.
func (p *program) serve(ctx context.Context, src config.Sources, cfg config.Config, log *slog.Logger) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGHUP)
	defer signal.Stop(signals)
	err := p.work(ctx, signals, src, cfg, log)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return nil
	}
	return err
}

func (p *program) work(
	ctx context.Context, signals <-chan os.Signal, src config.Sources, cfg config.Config, log *slog.Logger,
) (err error) {
	t, err := p.open(ctx, cfg, log, app.Everything)
	if err != nil {
		return &failure{"connect", app.NextServices(err), err}
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	w, err := t.NewWorker(ctx)
	if err != nil {
		return &failure{"start", app.NextServices(err), err}
	}
	m := &manager{log: log, drain: cfg.DrainMax}
	m.reload = func(ctx context.Context) {
		r := reloader{
			src: &src, log: log, cfg: &cfg, adopt: w.Reload, notifyReloading: m.Reloading,
			notifyReady: func() error { return m.Ready(app.StatusLine(w.Health())) },
		}
		r.reload(ctx)
		m.drain = cfg.DrainMax
		p.level.Set(cfg.LogLevel)
	}
	log.Info("ready", event.Key, event.Ready)
	m.logNotify(m.Ready(app.StatusLine(w.Health())))
	return m.await(ctx, signals, w)
}

// daemon is the worker that the manager controls.
type daemon interface {
	Run(ctx context.Context) error
	Abort() // ends a drain at once
	Wake()  // polls the queues now
}

// manager controls the daemon for signals and systemd.
type manager struct {
	systemd.Notifier
	log    *slog.Logger
	drain  time.Duration
	reload func(context.Context) // reads the settings again
}

var errThirdSignal = errors.New("stopped by a third signal")

// await runs the daemon until it ends. signals has every signal, also the first, which ends ctx too. The daemon is told
// to stop once that is logged: else it could log its end first.
func (m *manager) await(ctx context.Context, signals <-chan os.Signal, d daemon) error {
	ended := make(chan error, 1)
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	go func() { ended <- d.Run(running) }()
	stopping := ctx.Done()
	for count := 0; ; {
		select {
		case err := <-ended:
			return err
		case <-stopping:
			stopping = nil
			m.log.Info("stopping: finishing running tasks, taking no new ones; another signal gives them back at once",
				"reason", context.Cause(ctx).Error(), "drain_max", m.drain.String())
			m.logNotify(m.Stopping("draining"))
			// beyond TimeoutStopSec: for slow handlers and settling
			m.logNotify(m.ExtendTimeout(m.drain + 3*time.Minute))
			stop(context.Cause(ctx))
		case s := <-signals:
			switch s {
			case syscall.SIGUSR1:
				d.Wake()
				continue
			case syscall.SIGHUP:
				m.reload(ctx)
				continue
			}
			switch count++; count {
			case 1: // it ended ctx
			case 2:
				m.log.Warn("second signal: giving running tasks back")
				d.Abort()
			default:
				return errThirdSignal // the leases expire; nothing is lost (I1)
			}
		}
	}
}

// logNotify logs an error of notifying systemd; the work goes on.
func (m *manager) logNotify(err error) {
	if err != nil {
		m.log.Warn("can't notify systemd", "error", err)
	}
}
