package api_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// outsideLimit bounds a program that isn't ours.
const outsideLimit = 9 * time.Minute

// tool is the path of a program that `make api-check` installs; only there the tests with such programs run.
func tool(t *testing.T, path string) string {
	t.Helper()
	if os.Getenv("API_CHECK") == "" {
		t.Skip("SKIPPED: it needs programs from npm and PyPI; run: make api-check")
	}
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(root, ".tools", path)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; run: make api-check", err)
	}
	return path
}

// furnished are jobs of all states, a dead letter and a webhook, so that calls find something.
func (b *bench) furnished() {
	b.Helper()
	for _, id := range []string{"pending", "running", "failed", "succeeded"} {
		b.submitted(strings.Replace(newFile(), "{", `{"id":"`+id+`","webhookUrl":"https://example.org/x",`, 1))
	}
	b.begun("running")
	b.failJob(b.begun("failed"))
	b.complete(b.begun("succeeded"))
}

// cases is what schemathesis says of how much it tried.
var cases = regexp.MustCompile(`(\d+) generated`)

// Schemathesis makes requests from the OpenAPI document, valid ones and broken ones: no answer is a 5xx or of another
// shape than the document says. A stream of all events has no end, so it isn't asked for one: Accept is not in the
// document.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	program := tool(t, "schemathesis/bin/schemathesis")
	b := newBench(t)
	b.furnished()
	ctx, cancel := context.WithTimeout(t.Context(), outsideLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "run", b.server.URL+"/openapi.json", "--no-color", "--seed", "1",
		"--header", "Authorization: Bearer "+b.tokens["operate"], "--rate-limit", "90/s", "--max-examples", examples(),
		"--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"+
			"response_schema_conformance,unsupported_method", "--request-timeout", "20", "--workers", "1")
	cmd.Dir = t.TempDir() // it writes there
	out, err := cmd.CombinedOutput()
	found := cases.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("schemathesis: %v\n%s", err, out)
	}
	t.Logf("schemathesis: %s cases", found[1])
}

// examples is how many requests are made of each call, by phase.
func examples() string {
	if n := os.Getenv("API_CHECK_EXAMPLES"); n != "" {
		return n
	}
	return "50"
}

// client uses what openapi-typescript generates of the document; the compiler checks each path, field and status.
const client = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

declare const process: { env: Record<string, string> }
const api = createClient<paths>({
  baseUrl: process.env.API_URL!, headers: { Authorization: 'Bearer ' + process.env.API_TOKEN },
})
const payload = { filename: 'a.pdf', document_set: 's' }
const submit = () => api.POST('/v1/jobs', {
  body: { type: 'ingest', payload }, params: { header: { 'Idempotency-Key': 'k' } },
})
const first = await submit(), again = await submit()
if (first.response.status !== 201 || again.response.status !== 200) throw new Error('submit: ' + again.response.status)
const job: components['schemas']['Job'] = first.data!
const path = { id: job.id }

const stream = await api.GET('/v1/jobs/{id}/events', {
  params: { path }, parseAs: 'stream', headers: { Accept: 'text/event-stream' },
})
const canceled = await api.POST('/v1/jobs/{id}/cancel', { params: { path } })
if (canceled.error) throw new Error(canceled.error.code)
const text = await new Response(stream.data as ReadableStream).text()
for (const line of text.split('\n')) {
  if (line.startsWith('data: ')) {
    const event: components['schemas']['JobEvent'] = JSON.parse(line.slice(6))
    if (event.stage) console.log('event', event.stage) // else a note
  }
}
const ended = await api.GET('/v1/jobs/{id}', { params: { path } })
console.log('job', ended.data!.status)
const found = await api.POST('/v1/search', { body: { query: 'tide', limit: 3 } })
console.log('hits', found.data!.items.length)
const gone = await api.GET('/v1/jobs/{id}', { params: { path: { id: 'none' } } })
console.log('problem', gone.error!.code)
`

// A client that openapi-typescript generates submits, watches, cancels and searches.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	modules := tool(t, "openapi/node_modules")
	b := newBench(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), outsideLimit)
	defer cancel()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"openapi.json": string(b.spec()), "client.ts": client, "package.json": `{"type":"module"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out []byte
	for _, args := range [][]string{
		{"node_modules/.bin/openapi-typescript", "openapi.json", "-o", "schema.d.ts"},
		{
			"node_modules/.bin/tsc", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext",
			"--moduleResolution", "nodenext", "--lib", "es2022,dom", "client.ts",
		},
		{"node", "client.js"},
	} {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "API_URL="+b.server.URL, "API_TOKEN="+b.tokens["submit"])
		var err error
		if out, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
	}
	if want := "event canceled\njob canceled\nhits 0\nproblem NOT_FOUND\n"; string(out) != want {
		t.Errorf("the client printed:\n%s\nwant:\n%s", out, want)
	}
}
