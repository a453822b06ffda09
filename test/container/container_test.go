package container

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, leaktest.Find)
}

const (
	tenant = "southhaven"
	grace  = "480" // seconds; stop_grace_period
	// patience is for one call of the engine, and for the worker to come up.
	patience = 3 * time.Minute
)

// bench is a container engine with the image, and the settings of a tenant.
type bench struct {
	*testing.T
	engine   []string
	image    string
	settings string // a file of NAME=value
}

func newBench(t *testing.T) *bench {
	t.Helper()
	engine, image := strings.Fields(os.Getenv("CONTAINER_ENGINE")), os.Getenv("CONTAINER_IMAGE")
	if len(engine) == 0 || image == "" {
		t.Skip("`make container-check` builds the image and runs it: it takes minutes, and root")
	}
	return &bench{t, engine, image, settings(t)}
}

// settings writes the settings of the tenant, for Azurite and a Postgres without a schema, and returns the file.
func settings(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), tenant+".env")
	err := os.WriteFile(file, []byte(strings.Join([]string{
		"CLIENT_ID=" + tenant, "AZURE_STORAGE_CONNECTION_STRING=" + stacktest.Azurite(t),
		"DATABASE_URL=" + stacktest.EmptyPostgres(t),
		"LLM_PROVIDER=offline", "EMBEDDING_DIMENSIONS=256", "POLL_MAX_MS=1000",
	}, "\n")+"\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// do runs the engine and returns what it printed.
func (b *bench) do(args ...string) (string, error) {
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.Context()), patience) // also in a cleanup
	defer cancel()
	cmd := exec.CommandContext(ctx, b.engine[0], append(b.engine[1:len(b.engine):len(b.engine)], args...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (b *bench) must(args ...string) string {
	b.Helper()
	out, err := b.do(args...)
	if err != nil {
		b.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

// run returns what compose.yaml sets, as arguments of podman: chown is its uid= of a tmpfs. compose.yaml's limits
// of files and processes may exceed those of this machine.
func (b *bench) run(args ...string) []string {
	return append([]string{
		"run", "--network=host", "--log-driver=k8s-file", "--env-file=" + b.settings, "--read-only", "--cap-drop=all",
		"--security-opt=no-new-privileges",
		"--mount=type=tmpfs,destination=/run/async-worker,tmpfs-mode=0700,tmpfs-size=1m,chown=true", "--memory=1280m",
		"--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096",
	}, args...)
}

// command runs a command of the program in a container of its own.
func (b *bench) command(args ...string) string {
	b.Helper()
	samples := filepath.Join(b.root(), "dev", "samples")
	return b.must(b.run(append([]string{"--rm", "--volume=" + samples + ":/samples:ro", b.image}, args...)...)...)
}

func (b *bench) root() string {
	b.Helper()
	root, err := stack.Root()
	if err != nil {
		b.Fatal(err)
	}
	return root
}

// TestImage runs a worker in a container: the schema, a document from its upload to an answer, health, and the
// drain.
func TestImage(t *testing.T) {
	b := newBench(t)
	if user := b.must("image", "inspect", "--format={{.Config.User}}", b.image); user != "65532:65532" {
		t.Errorf("the image's user is %q", user)
	}
	b.command("migrate")
	worker := b.must(b.run("--detach", "--volume=cache:/var/cache/async-worker", b.image)...)
	t.Cleanup(func() {
		if t.Failed() {
			state, _ := b.do("inspect", "--format={{json .State}}", worker)
			log, _ := b.do("logs", worker)
			t.Logf("the worker is %s\nits log:\n%s", state, log)
		}
	})
	b.awaitReady(worker)
	began := time.Now()
	b.command("enqueue", "--type=ingest", "--upload=/samples/harbour-handbook.pdf", "--document-set=harbour", "--watch")
	t.Logf("ingested in %d ms, with the start of the container that sent it", time.Since(began).Milliseconds())
	if hits := b.command("search", "--set=harbour",
		"when are the quay cranes parked and pinned to the rail"); !strings.Contains(hits,
		"harbour-handbook.pdf · page 4") {
		t.Errorf("the search returns: %s", hits)
	}
	if out, err := b.do("exec", worker, "touch", "/usr/bin/other"); err == nil {
		t.Errorf("the root can be written: %s", out)
	}
	if uid := b.must("exec", worker, "id", "-u"); uid != "65532" {
		t.Errorf("the worker runs as %s", uid)
	}
	b.must("stop", "--time="+grace, worker)
	if code := b.must("inspect", "--format={{.State.ExitCode}}", worker); code != "0" {
		t.Errorf("after the drain the exit code is %s", code)
	}
}

// awaitReady runs compose.yaml's health check.
func (b *bench) awaitReady(worker string) {
	b.Helper()
	began := time.Now()
	for {
		out, err := b.do("exec", worker, "async-worker", "status")
		if err == nil {
			b.Logf("ready after %d ms\n%s", time.Since(began).Milliseconds(), out)
			return
		}
		if state := b.must("inspect", "--format={{.State.Status}}", worker); state != "running" ||
			time.Since(began) > patience {
			b.Fatalf("not ready after %v, %s: %s", time.Since(began).Round(time.Millisecond), state, out)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-b.Context().Done():
			b.Fatal(b.Context().Err())
		}
	}
}
