package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// fakeDaemon drains for a while when its context ends.
type fakeDaemon struct {
	drain   time.Duration
	aborted chan struct{}
	woken   chan struct{}
	err     error
}

func (d *fakeDaemon) Run(ctx context.Context) error {
	<-ctx.Done()
	select {
	case <-time.After(d.drain):
	case <-d.aborted:
	}
	return d.err
}

func (d *fakeDaemon) Abort() { close(d.aborted) }
func (d *fakeDaemon) Wake()  { close(d.woken) }

func TestSignals(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, c := range []struct {
		name    string
		drain   time.Duration
		signals int
		err     error
		want    error
		lasts   time.Duration
	}{
		{name: "one drains", drain: time.Minute, signals: 1, lasts: time.Minute},
		{name: "two abort", drain: time.Hour, signals: 2, lasts: time.Second},
		{
			name: "an error of the daemon is the answer", drain: time.Minute, signals: 1, err: broken, want: broken,
			lasts: time.Minute,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				signals := make(chan os.Signal, 3)
				d := &fakeDaemon{drain: c.drain, aborted: make(chan struct{}), err: c.err}
				m := manager{log: slog.New(slog.NewTextHandler(io.Discard, nil))}
				begun := time.Now()
				go func() {
					for i := range c.signals {
						if i == 0 {
							cancel(errors.New("terminated"))
						} else {
							time.Sleep(time.Second)
						}
						signals <- syscall.SIGTERM
					}
				}()
				if err := m.await(ctx, signals, d); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if got := time.Since(begun); got != c.lasts {
					t.Errorf("it took %v, want %v", got, c.lasts)
				}
			})
		})
	}
}

// TestStoppingComesFirst: the log says that the daemon is to stop before the daemon says that it has.
func TestStoppingComesFirst(t *testing.T) {
	t.Parallel()
	for range 50 {
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		log := slog.New(slog.NewTextHandler(&out, nil))
		m := manager{log: log}
		if err := m.await(ctx, nil, willing{log, cancel}); err != nil {
			t.Fatal(err)
		}
		if said := out.String(); !strings.Contains(said, "stopping") ||
			strings.Index(said, "stopping") > strings.Index(said, "msg=stopped") {
			t.Fatalf("the log:\n%s", said)
		}
	}
}

// willing is a daemon that is told to stop as soon as it runs, and does.
type willing struct {
	log    *slog.Logger
	signal context.CancelFunc
}

func (w willing) Run(ctx context.Context) error {
	w.signal()
	<-ctx.Done()
	w.log.Info("stopped")
	return nil
}
func (willing) Abort() {}
func (willing) Wake()  {}

// The third signal ends the wait although the daemon does not.
func TestThirdSignal(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	signals := make(chan os.Signal, 3)
	for range 3 {
		signals <- syscall.SIGINT
	}
	d := &stubborn{end: make(chan struct{})}
	defer close(d.end)
	m := manager{log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if err := m.await(ctx, signals, d); !errors.Is(err, errThirdSignal) {
		t.Errorf("got %v", err)
	}
}

type stubborn struct{ end chan struct{} }

func (s *stubborn) Run(context.Context) error { <-s.end; return nil }
func (*stubborn) Abort()                      {}
func (*stubborn) Wake()                       {}

// SIGUSR1 makes the daemon poll its queues; it does not count as a signal to stop.
func TestWakeSignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		signals := make(chan os.Signal, 1)
		d := &fakeDaemon{aborted: make(chan struct{}), woken: make(chan struct{})}
		m := manager{log: slog.New(slog.NewTextHandler(io.Discard, nil))}
		ended := make(chan error, 1)
		go func() { ended <- m.await(ctx, signals, d) }()
		signals <- syscall.SIGUSR1
		<-d.woken
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

// Told to stop while it still connects, the daemon ends well; an interrupted command does not.
func TestStopDuringStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{
		env: testEnv(), stdout: io.Discard, stderr: io.Discard,
		open: func(ctx context.Context, _ config.Config, _ *slog.Logger, _ app.Needs) (*app.Tenant, error) {
			cancel()
			return nil, ctx.Err()
		},
	}
	if code := p.run(ctx, []string{"run"}); code != exitOK {
		t.Errorf("run: exit code %d", code)
	}
	if code := p.run(ctx, []string{"jobs", "list"}); code != exitInterrupted {
		t.Errorf("jobs list: exit code %d", code)
	}
}
