package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

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
	programs := map[string]string{"sh": "sh", "mjs": "node", "py": "python3"}
	for _, m := range found {
		file := filepath.Join(t.TempDir(), string(m[1]))
		if err := os.WriteFile(file, m[3], 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			cmd := exec.CommandContext(b.ctx, programs[string(m[2])], file)
			cmd.Env = append(os.Environ(), "API_URL=http://"+addr, "API_TOKEN="+token)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", m[1], err, out)
			}
			for _, want := range []string{"started", "completed", "succeeded", "notes.md", "the water is highest"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s: no %q in\n%s", m[1], want, out)
				}
			}
		}
	}
	expect(b, "jobs", 3, "select count(*)::int from jobs")
}
