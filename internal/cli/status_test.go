package cli

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// workerSaying is a worker that says one thing, at a socket in a folder of its own.
func workerSaying(t *testing.T, s app.Status) (dir string) {
	t.Helper()
	dir = t.TempDir()
	workerIn(t, dir, s)
	return dir
}

func workerIn(t *testing.T, dir string, s app.Status) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, app.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { httpd.WriteJSON(w, s) }),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
}

func someStatus() app.Status {
	return app.Status{
		ClientID: "southhaven", Version: "1.2.3", Worker: "host/1-x", Started: time.Now().Add(-time.Hour), Alive: true,
		Ready: true,
		Line:  "idle, 3 done, 0 failed", Checks: []httpd.Check{{Name: "store", State: httpd.OK}},
		Engine: engine.Health{Slots: 4, Types: []engine.TypeHealth{{Type: "ingest", Limit: 4}}},
	}
}

// How a worker is, by the exit code and in words.
func TestStatus(t *testing.T) {
	t.Parallel()
	ready := workerSaying(t, someStatus())
	r := invoke(t, app.Tenant{}, testEnv("RUNTIME_DIRECTORY="+ready), "", "status")
	r.want(t, exitOK, "southhaven  ready", "idle, 3 done, 0 failed", "1.2.3", "store", "ingest")

	var got app.Status
	r = invoke(t, app.Tenant{}, nil, "", "status", "--socket", filepath.Join(ready, app.SocketName), "-o", "json")
	r.want(t, exitOK)
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Line != "idle, 3 done, 0 failed" ||
		got.Engine.Slots != 4 {
		t.Errorf("%v: %s", err, r.out)
	}

	s := someStatus()
	s.Ready = false
	s.Checks[0] = httpd.Check{
		Name: "store", State: httpd.Failed, Since: time.Now(), Class: "network_timeout",
		Hint: "look at the network\x1b[2J",
	}
	broken := workerSaying(t, s)
	r = invoke(t, app.Tenant{}, testEnv("RUNTIME_DIRECTORY="+broken), "", "status")
	r.want(t, exitUnavailable, "southhaven  not ready", "network_timeout", "look at the network", "not ready: store",
		"what to do:")
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("control characters reach the terminal: %q", r.out)
	}
	r = invoke(t, app.Tenant{}, testEnv("RUNTIME_DIRECTORY="+broken), "", "status", "-o", "json")
	r.want(t, exitUnavailable, `"ready": false`)
}

// The worker that status asks, and its message without an answer.
func TestStatusWithoutAnswer(t *testing.T) {
	t.Parallel()
	invoke(t, app.Tenant{}, testEnv(), "", "status").want(t, exitUnavailable, "/run/async-worker/southhaven/http.sock",
		"is the worker running?")
	invoke(t, app.Tenant{}, testEnv(), "", "status", "--addr", "127.0.0.1:1").want(t, exitUnavailable, "127.0.0.1:1",
		"is the worker running?")
	invoke(t, app.Tenant{}, testEnv("HTTP_ADDR=127.0.0.1:1"), "", "status").want(t, exitUnavailable, "ask 127.0.0.1:1")
	invoke(t, app.Tenant{}, testEnv("HTTP_ADDR=:1", "HTTP_TOKEN=TopSecretTopSecret"), "", "status").want(t,
		exitUnavailable, "ask 127.0.0.1:1")
	invoke(t, app.Tenant{}, testEnv("HTTP_ADDR=:1"), "", "status").want(t, exitUnavailable, "ask 127.0.0.1:1")
	invoke(t, app.Tenant{}, testEnv(), "", "status", "--addr", "a:1", "--socket", "/b").want(t, exitUsage, "addr")

	invoke(t, app.Tenant{}, testEnv(), "", "status").want(t, exitUnavailable,
		"systemctl status async-worker@southhaven;")
	onImage(t, t.TempDir(), "", "status").want(t, exitUnavailable, "this machine has no tenant",
		"sudo async-worker tenant add NAME")
	root := t.TempDir() // the environment names services, and the machine has a tenant
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	services := []string{"DATABASE_URL=postgresql://u:p@127.0.0.1:1/x"}
	invoke(t, app.Tenant{}, services, "", "status", "--root", root).want(t, exitUnavailable,
		"choose the worker with --tenant NAME", "sudo async-worker tenant list")
	for _, where := range []string{"--addr 127.0.0.1:1", "--socket " + filepath.Join(root, "none.sock")} {
		r := invoke(t, app.Tenant{}, nil, "", append([]string{"status"}, strings.Fields(where)...)...)
		r.want(t, exitUnavailable, "its log says at which address it listens")
		if strings.Contains(r.errOut, "@*") || strings.Contains(r.errOut, "dial ") {
			t.Errorf("%s: %s", where, r.errOut)
		}
	}

	left := filepath.Join(t.TempDir(), "http.sock") // a worker that was killed left it
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: left, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	invoke(t, app.Tenant{}, nil, "", "status", "--socket", left).want(t, exitUnavailable, "connection refused")
}

// A worker that hangs runs: it is not to be started.
func TestStatusOfHungWorker(t *testing.T) {
	t.Parallel()
	address := silent(t)
	_, err := askStatus(t.Context(), httpd.Client{Addr: address, Timeout: 2 * time.Second}) // it has to connect first
	if err == nil {
		t.Fatal("it answered")
	}
	v := verdictOf(err)
	if want := "ask " + address + ": it accepts connections, and did not answer within 2s"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if v.code != exitUnavailable || !strings.Contains(v.next, "the worker runs, and is stuck or overloaded") {
		t.Errorf("%+v", v)
	}
}

// If a worker refuses the user, status names those whom it answers.
func TestStatusRefused(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), app.SocketName)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	invoke(t, app.Tenant{}, nil, "", "status", "--socket", socket).want(t, exitPermission, "answered 403",
		"groups async-worker and async-worker-operators")
}

// status --all shows the workers that run and the enabled ones that don't, and exits with 69 if one is down.
func TestStatusOfAll(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	all := func(args ...string) result {
		return onImage(t, root, "", append([]string{"status", "--all"}, args...)...)
	}
	all().want(t, exitUnavailable, "no worker is enabled or has a socket in "+root+"/run/async-worker", "enable --now")

	wants := filepath.Join(root, "etc/systemd/system/async-worker.target.wants")
	south := filepath.Dir(socketBelow(root, "southhaven"))
	if err := errors.Join(os.MkdirAll(wants, 0o755), os.MkdirAll(south, 0o755),
		os.MkdirAll(filepath.Dir(socketBelow(root, "stopped")), 0o755)); err != nil {
		t.Fatal(err)
	}
	workerIn(t, south, someStatus()) // not enabled: started by hand
	if r := all(); r.code != exitOK || strings.Count(r.out, "\n") != 2 {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.errOut)
	}
	for _, name := range []string{"southhaven", "west", "Not A Tenant"} {
		if err := os.Symlink("/nowhere", filepath.Join(wants, unitOf(name))); err != nil {
			t.Fatal(err)
		}
	}
	r := all()
	r.want(t, exitUnavailable, "ready", "idle, 3 done", "silent", "what to do: is the worker running? systemctl status async-worker@west")
	if strings.Count(r.out, "\n") != 3 || !strings.Contains(r.out, "\nsouthhaven ") || !strings.Contains(r.out, "\nwest ") {
		t.Errorf("want a row for each of two tenants:\n%s", r.out)
	}
	var rows []tenantStatus
	r = all("-o", "json")
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || r.code != exitUnavailable || len(rows) != 2 || rows[1].Error == "" {
		t.Errorf("exit %d, %v: %s", r.code, err, r.out)
	}
}

// Of a worker that does not answer, status --all asks the service manager.
func TestStatusOfAllAsksTheManager(t *testing.T) {
	t.Parallel()
	u := &unit{state: "activating"}
	p := &program{systemctl: u.systemctl}
	s := someStatus()
	rows := []tenantStatus{{ClientID: "southhaven", Status: &s}, {ClientID: "made-up-for-a-test", Error: "no socket"}}
	if err := p.addStates(t.Context(), "/", rows); err != nil || rows[0].Active != "" || rows[1].Active != "activating" {
		t.Errorf("%v, %+v", err, rows)
	}
	if len(u.calls) != 1 || strings.Contains(u.calls[0], "southhaven") {
		t.Errorf("systemctl %q", u.calls)
	}
}
