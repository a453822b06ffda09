package event_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/event"
)

const root = "../.."

// entry is what the catalog says of an event.
type entry struct {
	id      event.ID
	headers map[string]string
	text    string
}

// catalog reads the file as systemd does: "-- ID", headers, an empty line, the text.
func catalog(t *testing.T) (entries []entry) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "systemd/async-worker.catalog"))
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(text), "\n-- ") {
		if strings.HasPrefix(part, "\n#") || strings.TrimSpace(part) == "" {
			continue // what stands before the first entry
		}
		id, rest, _ := strings.Cut(part, "\n")
		head, body, found := strings.Cut(rest, "\n\n")
		if !found {
			t.Errorf("%s has no text", id)
		}
		e := entry{id: event.ID(id), headers: map[string]string{}, text: strings.TrimSpace(body)}
		for line := range strings.Lines(head) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			e.headers[name] = value
		}
		entries = append(entries, e)
	}
	return entries
}

// Each event is in the catalog, with a subject and a text that says what to do, and nothing else is.
func TestCatalogIsComplete(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/logging.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[event.ID]string{}
	for _, e := range event.All() {
		if !strings.Contains(string(page), "| `"+string(e.ID)+"` | "+e.Name+": ") {
			t.Errorf("docs/logging.md does not list %s with its id", e.Name)
		}
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(string(e.ID)) {
			t.Errorf("%s: %q is not an id", e.Name, e.ID)
		}
		if other, taken := named[e.ID]; taken {
			t.Errorf("%s and %s have one id", other, e.Name)
		}
		named[e.ID] = e.Name
	}
	described := map[event.ID]string{}
	fields := regexp.MustCompile(`@([A-Z_]+)@`)
	for _, e := range catalog(t) {
		described[e.id] = named[e.id]
		if e.headers["Subject"] == "" || e.headers["Defined-By"] != "async-worker" || e.headers["Support"] == "" ||
			len(e.text) < 60 {
			t.Errorf("%s (%s) is described poorly: %v %q", e.id, named[e.id], e.headers, e.text)
		}
		for _, f := range fields.FindAllStringSubmatch(e.text, -1) {
			if !slices.Contains(documented(), f[1]) {
				t.Errorf("%s (%s) speaks of the field %s, which is not in the list", e.id, named[e.id], f[1])
			}
		}
	}
	if !maps.Equal(named, described) {
		t.Errorf("the code names %v\nthe catalog describes %v", named, described)
	}
}

// documented are the fields that operators may rely on.
func documented() []string {
	return []string{
		"TASK_ID", "TASK_TYPE", "ATTEMPT", "STAGE", "QUEUE", "OUTCOME", "ERROR_CLASS", "DURATION_MS", "TRACE_ID",
		"CLIENT_ID", "MESSAGE_ID", "DEPENDENCY",
	}
}

// Each event is logged somewhere: event.X stands in code that is not a test.
func TestEachEventIsLogged(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, dir := range []string{"cmd", "handlers", "internal", "queue", "systemd", "webhook"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") ||
				strings.Contains(p, "internal/event/") {
				return err
			}
			tree, err := parser.ParseFile(token.NewFileSet(), p, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := s.X.(*ast.Ident); ok && pkg.Name == "event" {
						used[s.Sel.Name] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range event.All() {
		if !used[e.Name] {
			t.Errorf("nothing logs %s", e.Name)
		}
	}
}

// systemd itself takes the catalog, and shows each event's text.
func TestJournalctlTakesTheCatalog(t *testing.T) {
	t.Parallel()
	journalctl, err := exec.LookPath("journalctl")
	if err != nil {
		t.Skip("journalctl is not installed; on Debian and Ubuntu: apt-get install systemd")
	}
	text, err := os.ReadFile(filepath.Join(root, "systemd/async-worker.catalog"))
	if err != nil {
		t.Fatal(err)
	}
	system := t.TempDir()
	for _, dir := range []string{"usr/lib/systemd/catalog", "var/lib/systemd/catalog"} {
		if err := os.MkdirAll(filepath.Join(system, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(system, "usr/lib/systemd/catalog/async-worker.catalog"), text,
		0o600); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, do := range []string{"--update-catalog", "--dump-catalog"} {
		cmd := exec.CommandContext(t.Context(), journalctl, "--root="+system, "--no-pager", do)
		if out, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("journalctl %s: %v: %s", do, err, out)
		}
	}
	for _, e := range catalog(t) {
		if !strings.Contains(string(out), "-- "+string(e.id)) || !strings.Contains(string(out), e.headers["Subject"]) {
			t.Errorf("journalctl does not show %s: %s", e.id, e.headers["Subject"])
		}
	}
}
