package container

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// override is what this machine needs beside compose.yaml: the image that was just built, and the host's network,
// where the local stack listens on loopback.
const override = `services:
  southhaven:
    image: %s
    network_mode: host
`

// newProject is the folder of a new user: a copy of compose.yaml, a tenant's settings, and the override. The
// engine is Docker with its own Compose.
func newProject(t *testing.T) *bench {
	t.Helper()
	compose, image := strings.Fields(os.Getenv("CONTAINER_COMPOSE")), os.Getenv("CONTAINER_COMPOSE_IMAGE")
	if len(compose) == 0 || image == "" {
		t.Skip("`make container-check` starts a Docker Engine for it: it takes minutes, and root")
	}
	b := &bench{T: t, image: image, settings: settings(t)}
	given, err := os.ReadFile(filepath.Join(b.root(), "packaging", "container", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text, err := os.ReadFile(b.settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tenants"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"compose.yaml":               string(given),
		"override.yaml":              strings.ReplaceAll(override, "%s", image),
		"tenants/" + tenant + ".env": string(text),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.engine = append(compose, "--project-name=aw-check", "--ansi=never", "--progress=quiet",
		"--file="+filepath.Join(dir, "compose.yaml"), "--file="+filepath.Join(dir, "override.yaml"))
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := b.do("logs", "--no-color")
			t.Logf("the log of %s:\n%s", tenant, log)
		}
		if out, err := b.do("down", "--volumes", "--timeout=30"); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	})
	return b
}

// TestCompose goes the way of docs/container.md with compose.yaml as it is: schema, check-config, doctor, up, healthy
// by its own health check, a document from its upload to an answer, exec, and a stop that drains.
func TestCompose(t *testing.T) {
	b := newProject(t)
	b.must("run", "--rm", tenant, "migrate")
	b.must("run", "--rm", tenant, "check-config")
	t.Logf("doctor:\n%s", b.must("run", "--rm", tenant, "doctor", "--skip", "unit"))
	began := time.Now()
	b.must("up", "--detach", "--wait", "--wait-timeout=120")
	t.Logf("healthy after %d ms", time.Since(began).Milliseconds())
	t.Logf("status:\n%s", b.must("exec", "-T", tenant, "async-worker", "status"))

	samples := filepath.Join(b.root(), "dev", "samples")
	b.must("run", "--rm", "--volume="+samples+":/samples:ro", tenant,
		"enqueue", "--type=ingest", "--upload=/samples/harbour-handbook.pdf", "--document-set=harbour", "--watch")
	if hits := b.must("run", "--rm", tenant, "search", "--set=harbour",
		"when are the quay cranes parked and pinned to the rail"); !strings.Contains(hits, "harbour-handbook.pdf · page 4") {
		t.Errorf("the search returns: %s", hits)
	}
	if out, err := b.do("exec", "-T", tenant, "touch", "/usr/bin/other"); err == nil {
		t.Errorf("the root can be written: %s", out)
	}
	b.must("stop")
	b.exited()
}

// exited checks that the stop drained: the exit code is 0, not 137 of a kill.
func (b *bench) exited() {
	b.Helper()
	var state struct {
		State    string
		ExitCode int
	}
	out := b.must("ps", "--all", "--format=json", tenant)
	if err := json.Unmarshal([]byte(out), &state); err != nil {
		b.Fatalf("ps: %v: %s", err, out)
	}
	if state.State != "exited" || state.ExitCode != 0 {
		b.Errorf("after the stop it is %q with exit code %d", state.State, state.ExitCode)
	}
}
