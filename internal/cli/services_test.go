package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The commands against a real Azurite and a real Postgres: from an empty database to a search answer,
// a dead letter, and a worker that ends when told.
func TestCommandsOnRealServices(t *testing.T) {
	t.Parallel()
	env := []string{
		"CLIENT_ID=" + stacktest.UniqueName("c"), "AZURE_STORAGE_CONNECTION_STRING=" + stacktest.Azurite(t),
		"DATABASE_URL=" + stacktest.EmptyPostgres(t), "LLM_PROVIDER=offline", "LOG_FORMAT=text", "POLL_MAX_MS=100",
	}
	command := func(args ...string) result {
		return onServices(t.Context(), env, args...)
	}

	command("jobs", "list").want(t, exitConfig, "async-worker migrate")
	command("migrate").want(t, exitOK, "schema public: created at version ")
	command("migrate").want(t, exitOK, "functions renewed")
	command("jobs", "list", "-o", "json").want(t, exitOK, "[]")

	stop, ended := serve(t, env)
	sample := filepath.Join("..", "..", "dev", "samples", "first-week.md")
	command("enqueue", "--id", "sample", "--upload", sample, "--document-set", "samples", "--watch").
		want(t, exitOK, "sample\n", "uploaded", "embedding", "succeeded")
	command("enqueue", "--id", "lost", "--filename", "nowhere.md", "--document-set", "samples", "--watch").
		want(t, exitFailed, "INGEST_CONTENT_MISSING: the blob \"nowhere.md\"")
	command("jobs", "list", "--status", "succeeded").want(t, exitOK, "sample", "first-week.md")
	command("jobs", "get", "sample").want(t, exitOK, `"chunks"`, "finalizing")
	command("jobs", "cancel", "sample").want(t, exitFailed, "already over")

	var letters []store.DeadLetter
	listed := command("dlq", "list", "-o", "json")
	if err := json.Unmarshal([]byte(listed.out), &letters); err != nil || len(letters) != 1 ||
		letters[0].JobID != "lost" {
		t.Fatalf("%v: %+v", err, listed)
	}
	command("dlq", "show", letters[0].ID).want(t, exitOK, "content_missing", "original message:", "nowhere.md")

	var hits []store.Hit
	found := command("search", "first", "week", "--set", "samples", "-o", "json")
	if err := json.Unmarshal([]byte(found.out), &hits); err != nil || len(hits) == 0 ||
		hits[0].Filename != "first-week.md" || len(hits[0].HeadingPath) == 0 {
		t.Errorf("%v: %+v", err, found)
	}

	stop()
	if r := <-ended; r.code != exitOK || !strings.Contains(r.errOut, "stopping") {
		t.Errorf("run: %+v", r)
	}
}

// serve starts the daemon; stop tells it to end.
func serve(t *testing.T, env []string) (stop context.CancelFunc, ended chan result) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	ended = make(chan result, 1)
	go func() {
		var out, errOut bytes.Buffer
		p := &program{env: env, stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, open: app.Open}
		code := p.run(ctx, []string{"run"})
		ended <- result{code, out.String(), errOut.String()}
	}()
	return stop, ended
}

// extract needs no service and no settings.
func TestExtract(t *testing.T) {
	t.Parallel()
	sample := filepath.Join("..", "..", "dev", "samples", "first-week.md")
	invoke(t, app.Tenant{}, nil, "", "extract", sample).want(t, exitOK, "# ")
	var doc struct {
		Format string
		Blocks []struct{ Kind string }
	}
	r := invoke(t, app.Tenant{}, nil, "", "extract", sample, "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil || doc.Format != "markdown" || len(doc.Blocks) < 3 {
		t.Errorf("%v: %s", err, r.out)
	}
	invoke(t, app.Tenant{}, nil, "# Cranes\n\nAll five.\n", "extract", "-", "--name", "cranes.md").want(t, exitOK,
		"# Cranes", "All five.")
	for args, want := range map[string]string{
		"--estimate": "embeddings: 1 chunk, 7 tokens\ncontexts:   1 request, at most ",
		"--estimate -o json --context-mode model --context-max-tokens 1000 --context-model gpt-4o": `"context_too_long": false`,
	} {
		r := invoke(t, app.Tenant{}, nil, "# Cranes\n\nAll five.\n", append([]string{"extract", "-"}, strings.Fields(args)...)...)
		r.want(t, exitOK, want)
	}
	invoke(t, app.Tenant{}, nil, strings.Repeat("# Cranes\n\nAll five of them.\n", 500), "extract", "-", "--name", "cranes.md", "--estimate",
		"--context-mode", "model", "--context-max-tokens", "1000").want(t, exitOK, "would be ingested without contexts")
	invoke(t, app.Tenant{}, nil, "<html><h1>Cranes</h1></html>", "extract", "-").want(t, exitOK, "# Cranes")
	empty := "<html><body></body></html>"
	invoke(t, app.Tenant{}, nil, empty, "extract", "-").want(t, exitOK, "stdin: "+extract.NoText)
	invoke(t, app.Tenant{}, nil, empty, "extract", "-", "--estimate").want(t, exitOK, "stdin: "+extract.NoText, "0 chunks")
	invoke(t, app.Tenant{}, nil, "", "extract", "-").want(t, exitUsage, "the standard input is empty")
	invoke(t, app.Tenant{}, nil, strings.Repeat("a", 1<<20+1), "extract", "-", "--max-blob-mb", "1").want(t, exitFailed,
		"longer than 1 MiB", "MAX_BLOB_MB")
	invoke(t, app.Tenant{}, nil, "", "extract", t.TempDir()).want(t, exitFailed, "directory")
	invoke(t, app.Tenant{}, nil, "", "extract", sample+".missing").want(t, exitFailed, "check the path")
	invoke(t, app.Tenant{}, nil, "", "extract", "--max-blob-mb", "0", sample).want(t, exitConfig, "MAX_BLOB_MB")
	invoke(t, app.Tenant{}, nil, "", "migrate", "--print", "--db-schema", "docs").want(t, exitOK,
		"in schema docs with 1536")
	invoke(t, app.Tenant{}, nil, "", "migrate").want(t, exitConfig, "DATABASE_URL", "migrate --print")
}
