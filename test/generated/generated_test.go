package generated

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder keeps the error of a check instead of failing the test.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) { r.message = fmt.Sprintf(format, args...) }

func TestPart(t *testing.T) {
	const text = "# Title\n<!-- list: made by `make docs` -->\n\none\n\n<!-- /list -->\nThe end.\n"
	path := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &recorder{TB: t}
	Part(r, path, "list", "one\n")
	if r.message != "" {
		t.Errorf("an equal part: %s", r.message)
	}
	Part(r, path, "list", "two\n")
	for _, part := range []string{"a.md differs", "run: make docs", "line 4", `file: "one\n`, `code: "two\n`} {
		if !strings.Contains(r.message, part) {
			t.Errorf("the error %q does not contain %q", r.message, part)
		}
	}
	if got := read(t, path); got != text {
		t.Errorf("the check changed the file to %q", got)
	}
	*update = true
	defer func() { *update = false }()
	Part(r, path, "list", "two\n")
	if got, want := read(t, path), strings.Replace(text, "one", "two", 1); got != want {
		t.Errorf("-update wrote %q, want %q", got, want)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.md")
	r := &recorder{TB: t}
	File(r, path, "one\n")
	if !strings.Contains(r.message, "run: make docs\n") {
		t.Errorf("a missing file: %q", r.message)
	}
	if RootFile(r, path, "one\n"); !strings.Contains(r.message, "run: make docs, as root\n") {
		t.Errorf("a file of root's: %q", r.message)
	}
	*update = true
	defer func() { *update = false }()
	File(t, path, "one\n")
	*update, r.message = false, ""
	if File(r, path, "one\n"); r.message != "" {
		t.Errorf("after -update: %s", r.message)
	}
	if File(r, path, "one\ntwo\n"); !strings.Contains(r.message, "line 2") {
		t.Errorf("a longer text: %q", r.message)
	}
}
