package devstack

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newHome(t *testing.T, once bool) *home {
	t.Helper()
	dir := t.TempDir()
	h, err := openHome(dir, filepath.Join(dir, ".dev"), once)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOneStackAtATime(t *testing.T) {
	t.Parallel()
	h := newHome(t, false)
	_, err := openHome(h.root, h.dir, true)
	if err == nil || !strings.Contains(err.Error(), "already running") {
		t.Errorf("a second stack: %v, want that one is already running", err)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	again, err := openHome(h.root, h.dir, true)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := again.close(); err != nil {
		t.Error(err)
	}
}

func TestHomeKeepsDataUnlessOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, false)
	kept := filepath.Join(h.data, "kept")
	left := filepath.Join(h.dir, "once-1234") // of a killed run
	for _, dir := range []string{kept, left} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	once, err := openHome(h.root, h.dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if once.data == h.data {
		t.Error("with once the data is that of before")
	}
	if err := once.close(); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{kept: true, left: false, once.data: false, once.tmp: false} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", h.rel(dir), err == nil, want)
		}
	}
}

func TestEnvIsForTheShellAndItsOwner(t *testing.T) {
	t.Parallel()
	h := newHome(t, true)
	defer h.close()
	const odd = `it's a "key" with $HOME and ; rm`
	if err := os.WriteFile(h.envPath(), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.writeEnv(settings{"SECRET": odd}, settings{"DEV_X": "1"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(h.envPath())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %o, want 600", info.Mode().Perm())
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `set -a; . "$1"; exec printenv SECRET`, "sh", h.envPath()).
		Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSuffix(string(out), "\n"); got != odd {
		t.Errorf("the shell reads %q, want %q", got, odd)
	}
}

func TestModelSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		environ  []string
		provider string
	}{
		"without a key":         {[]string{"HOME=/x", "LLM_PROVIDER=openai"}, "offline"},
		"an empty key":          {[]string{"OPENAI_API_KEY="}, "offline"},
		"a key":                 {[]string{"OPENAI_API_KEY=k"}, ""},
		"a key of Azure":        {[]string{"AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://x"}, ""},
		"a server of one's own": {[]string{"OPENAI_BASE_URL=http://127.0.0.1:11434/v1"}, ""},
		"a key, yet offline":    {[]string{"OPENAI_API_KEY=k", "LLM_PROVIDER=offline"}, "offline"},
	} {
		s := modelSettings(c.environ)
		if s["LLM_PROVIDER"] != c.provider {
			t.Errorf("%s: the provider is %q, want %q", name, s["LLM_PROVIDER"], c.provider)
		}
		if _, ok := s["HOME"]; ok {
			t.Errorf("%s: passes on a name that is not a setting", name)
		}
	}
}

func TestAPartThatEndsEndsAll(t *testing.T) {
	t.Parallel()
	h := newHome(t, true)
	defer h.close()
	ctx, p := newParts(t.Context(), h)
	start := func(name, script string) *stack.Process {
		t.Helper()
		child, err := stack.Start(t.Context(), stack.Command{Name: name, Path: "sh", Args: []string{"-c", script}})
		if err != nil {
			t.Fatal(err)
		}
		p.watch(name, child, func() error { return child.Stop(syscall.SIGTERM, 5*time.Second) })
		return child
	}
	good := start("good", "exec sleep 60")
	start("bad", "echo all is lost >&2; exit 3")
	<-ctx.Done()
	ended, ok := errors.AsType[*exitedError](context.Cause(ctx))
	if !ok || ended.name != "bad" || !strings.Contains(ended.Error(), "all is lost") ||
		!strings.Contains(ended.Error(), ".dev/logs/bad.log") {
		t.Errorf("the cause is %v, want that bad ended, its log and its last words", context.Cause(ctx))
	}
	out := &bytes.Buffer{}
	if err := p.stop(&printer{w: out}); err != nil {
		t.Error(err)
	}
	<-good.Done()
	if got := strings.Fields(out.String()); len(got) != 4 || got[0] != "bad" || got[2] != "good" {
		t.Errorf("stopped %q, want bad before good: the last started first", got)
	}
}

func TestReadyFollowsTheDaemon(t *testing.T) {
	t.Parallel()
	l, err := listenReady()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if l.ready(t.Context()) == nil {
		t.Error("ready before it was said")
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: l.address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, message := range []string{"STATUS=starting", "READY=1\nSTATUS=working", "READY=1", "STOPPING=1"} {
		if _, err := conn.Write([]byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	<-l.readied
	if err := l.ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestHeldLinesComeAfterTheHold(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	p := &printer{w: out}
	p.hold(true)
	p.line("later")
	if out.Len() != 0 {
		t.Errorf("printed %q during a hold", out)
	}
	p.hold(false)
	if out.String() != "later\n" {
		t.Errorf("printed %q after the hold", out)
	}
}
