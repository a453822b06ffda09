package cli

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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
	return dir
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
	sockets, err := socketsBelow(filepath.Dir(filepath.Dir(socket)))
	if err != nil || !slices.Contains(sockets, socket) {
		t.Errorf("%v, %v", sockets, err)
	}
}

// status --all shows an unanswered worker as a row, and in the exit code.
func TestStatusOfAll(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(workerSaying(t, someStatus()), app.SocketName)
	rows, worst := askAll(t.Context(), []string{ready})
	if worst != nil || len(rows) != 1 || rows[0].Status == nil {
		t.Errorf("%+v, %v", rows, worst)
	}
	gone := filepath.Join(t.TempDir(), "gone", app.SocketName)
	if err := os.MkdirAll(filepath.Dir(gone), 0o700); err != nil {
		t.Fatal(err)
	}
	rows, worst = askAll(t.Context(), []string{ready, gone})
	if verdictOf(worst).code != exitUnavailable || len(rows) != 2 {
		t.Errorf("%+v, %v", rows, worst)
	}
}
