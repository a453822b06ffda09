package e2e

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// apiSnippet is a block of docs/api.md that begins with the name of its file.
var apiSnippet = regexp.MustCompile("(?s)```(?:sh|js|python)\n(?://|#) (\\w+\\.(sh|mjs|py))\n(.*?)```")

// TestAPIDocs runs each snippet of docs/api.md as it stands, against the worker. Run again, it gets the same job: it has
// the same key.
func TestAPIDocs(t *testing.T) {
	t.Parallel()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/api.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := apiSnippet.FindAllSubmatch(text, -1)
	if len(found) != 3 || bytes.Count(text, []byte("\n```js"))+bytes.Count(text, []byte("\n```python")) != 2 {
		t.Fatalf("%d snippets are named", len(found))
	}
	port, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	token, entry, err := apitoken.New("frontend", apitoken.Submit)
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, "LLM_PROVIDER=offline", "HTTP_ADDR="+addr, "API_TOKENS="+entry.String())
	b.start()
	b.upload("notes.md", []byte("# Tides\n\n## Spring tide\n\nTwice a month the water is highest.\n"))
	folder := t.TempDir()
	programs := map[string]string{"sh": "sh", "mjs": "node", "py": "python3"}
	for _, m := range found {
		file := filepath.Join(folder, string(m[1]))
		if err := os.WriteFile(file, m[3], 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			proxy := newFaulty(t, "http://"+addr, func(r *http.Request) bool {
				return string(m[2]) == "mjs" && strings.HasSuffix(r.URL.Path, "/events")
			})
			cmd := exec.CommandContext(b.ctx, programs[string(m[2])], file)
			cmd.Env = append(os.Environ(), "API_URL="+proxy.URL, "API_TOKEN="+token)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", m[1], err, out)
			}
			for _, want := range []string{"started", "completed", "succeeded", "notes.md", "the water is highest"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s: no %q in\n%s", m[1], want, out)
				}
			}
			if string(m[2]) == "mjs" {
				b.expectStream(proxy)
			}
		}
	}
	expect(b, "jobs", 3, "select count(*)::int from jobs")
	b.expectResumed(folder, "API_URL=http://"+addr, "API_TOKEN="+token)
}

// jobOfJavaScript is the id of the job that submit.mjs submits.
func (b *bed) jobOfJavaScript() string {
	return query[string](b, "select id from jobs where payload ->> 'document_set' = 'by-js'")
}

// expectStream checks that watch went on after each fault of its stream, and not before it was allowed to.
func (b *bed) expectStream(proxy *faulty) {
	b.t.Helper()
	all, waited := proxy.had("/v1/jobs/" + b.jobOfJavaScript() + "/events")
	if !all || waited < refusedFor-time.Second/4 {
		b.t.Errorf("the stream had all faults: %t; after the 429 it was asked for again after %s", all, waited)
	}
}

const resumeInJavaScript = `
import { call, watch } from './submit.mjs'

const all = [], rest = []
for await (const event of watch(process.env.JOB)) all.push(event)
for await (const event of watch(process.env.JOB, all[0].cursor)) rest.push(event)
const ids = (events) => events.map((event) => event.id).join()
if (all.length < 2 || ids(rest) !== ids(all.slice(1))) throw new Error(ids(all) + ' went on with ' + ids(rest))
const page = await call('GET', '/no-such-page').catch((error) => error)
if (page.status !== 404) throw new Error(page.message + ' has the status ' + page.status)
`

// expectResumed checks that watch goes on after the event whose cursor it is given.
func (b *bed) expectResumed(folder string, env ...string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "resume.mjs"), []byte(resumeInJavaScript), 0o600); err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(b.ctx, "node", "resume.mjs")
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "JOB="+b.jobOfJavaScript()), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Errorf("watch goes on after an event: %v\n%s", err, out)
	}
}
