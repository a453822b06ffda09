package cli

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/event"
)

// reloading is a daemon's side of reloads, whose worker takes over what it is given.
type reloading struct {
	reloader
	taken    []int // the concurrency of each
	fail     error
	notified []string
	log      bytes.Buffer
}

func newReloading(t *testing.T, env ...string) *reloading {
	t.Helper()
	r := &reloading{}
	src := config.Sources{Environ: testEnv(env...), ReadFile: os.ReadFile}
	cfg, err := config.Load(src, config.All)
	if err != nil {
		t.Fatal(err)
	}
	r.reloader = reloader{
		src: &src, cfg: &cfg, log: slog.New(slog.NewTextHandler(&r.log, nil)),
		adopt: func(_ context.Context, c config.Config) error {
			if r.fail == nil {
				r.taken = append(r.taken, c.Concurrency)
			}
			return r.fail
		},
		notifyReloading: func() error { r.notified = append(r.notified, "reloading"); return nil },
		notifyReady:     func() error { r.notified = append(r.notified, "ready"); return nil },
	}
	return r
}

// The new environment comes from the command; when it is wrong for the daemon nothing changes, and the command hears
// why.
func TestReloadConversation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newReloading(t, "RUNTIME_DIRECTORY="+dir)
	with := func(env ...string) reloadAnswer {
		t.Helper()
		ended := make(chan struct{})
		answer, err := sendSettings(t.Context(), filepath.Join(dir, reloadSocket),
			reloadRequest{config.Environ(testEnv(env...))}, func() error {
				go func() {
					defer close(ended)
					r.reload(t.Context())
				}()
				return nil
			})
		<-ended
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if a := with("WORKER_CONCURRENCY=7", "DB_SCHEMA=other"); strings.Join(a.Live, ",") != "WORKER_CONCURRENCY" ||
		strings.Join(a.Restart, ",") != "DB_SCHEMA" {
		t.Errorf("got %+v", a)
	}
	if a := with("WORKER_CONCURRENCY=no", "POLL_MAX_MS=no"); len(a.Problems) != 2 || r.cfg.Concurrency != 7 {
		t.Errorf("got %+v, and the settings are %+v", a, r.cfg)
	}
	if !strings.Contains(r.log.String(), "setting=POLL_MAX_MS") ||
		!strings.Contains(r.log.String(), string(event.SettingsRefused)) {
		t.Errorf("the log is %s", &r.log)
	}
	r.fail = errors.New("the model can't be opened")
	if a := with("WORKER_CONCURRENCY=9"); !strings.Contains(a.Error, "can't be opened") || r.cfg.Concurrency != 7 {
		t.Errorf("got %+v, and the settings are %+v", a, r.cfg)
	}
	r.fail = nil
	r.reload(t.Context()) // a plain SIGHUP: what was applied last stays, and not what was refused
	if len(r.taken) != 1 || r.taken[0] != 7 || r.cfg.Concurrency != 7 {
		t.Errorf("taken over were %v", r.taken)
	}
	if got, want := strings.Join(r.notified, " "), strings.TrimSpace(strings.Repeat("reloading ready ", 4)); got != want {
		t.Errorf("systemd was notified of %s, want %s", got, want)
	}
	if strings.Contains(r.log.String(), "TopSecret") {
		t.Errorf("the log holds a secret: %s", &r.log)
	}
}

// A misspelled setting is warned of by the command that brings it. The daemon forgets one that was corrected.
func TestReloadMisspelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	socket := filepath.Join(dir, reloadSocket)
	r := newReloading(t, "RUNTIME_DIRECTORY="+dir, "WORKER_CONCURENCY=3")
	command := func(env ...string) result {
		t.Helper()
		var out, errOut bytes.Buffer
		ended := make(chan struct{})
		p := &program{env: testEnv(append(env, "PATH=/bin")...), stdout: &out, stderr: &errOut}
		code := p.report(p.reload(t.Context(), socket, func() error {
			go func() {
				defer close(ended)
				r.reload(t.Context())
			}()
			return nil
		}))
		<-ended
		return result{code, out.String(), errOut.String()}
	}
	command("WORKER_CONCURENCY=3").want(t, exitOK, "no setting was changed", "WORKER_CONCURENCY: unknown setting",
		"did you mean WORKER_CONCURRENCY?")
	r.log.Reset()
	corrected := command("WORKER_CONCURRENCY=3")
	corrected.want(t, exitOK, "in force now: WORKER_CONCURRENCY")
	if corrected.errOut != "" || strings.Contains(r.log.String(), "WORKER_CONCURENCY") {
		t.Errorf("warned of what was corrected: %s%s", corrected.errOut, &r.log)
	}
}

// Without the command, SIGHUP reads the files again that settings are in.
func TestReloadOfFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "concurrency")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("3")
	r := newReloading(t, "WORKER_CONCURRENCY_FILE="+file)
	write("5")
	r.reload(t.Context())
	if len(r.taken) != 1 || r.taken[0] != 5 {
		t.Errorf("taken over were %v", r.taken)
	}
	r.reload(t.Context())
	if len(r.taken) != 1 {
		t.Errorf("what did not change was taken over: %v", r.taken)
	}
}

// A command that ends before it has sent its settings changes nothing, not even what files say.
func TestReloadWithoutSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "concurrency")
	write(t, file, "3")
	r := newReloading(t, "RUNTIME_DIRECTORY="+dir, "WORKER_CONCURRENCY_FILE="+file)
	write(t, file, "5")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, reloadSocket), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = conn.Close()
		}
		ended <- err
	}()
	r.reload(t.Context())
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(r.taken) > 0 || r.cfg.Concurrency != 3 || strings.Join(r.notified, " ") != "reloading ready" {
		t.Errorf("taken over were %v, systemd was notified of %v: %s", r.taken, r.notified, &r.log)
	}
}

// The command runs only where systemd runs it.
func TestReloadCommandRefuses(t *testing.T) {
	t.Parallel()
	r := invoke(t, app.Tenant{}, testEnv(), "", "reload")
	r.want(t, exitUsage, "systemctl reload async-worker@southhaven")
	invoke(t, app.Tenant{}, nil, "", "reload").want(t, exitUsage, "systemctl reload async-worker@TENANT")
	for _, args := range []string{"--tenant northhaven", "--client-id northhaven"} {
		invoke(t, app.Tenant{}, nil, "", append([]string{"reload"}, strings.Fields(args)...)...).want(t, exitUsage,
			"systemctl reload async-worker@northhaven")
	}
}
