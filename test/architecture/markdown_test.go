package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var fence = regexp.MustCompile("^ *```[a-z]*$")

// TestMarkdown: a fence is alone on its line and has a partner, so that a block of commands stays one. Lines outside of
// blocks and tables end before 120 columns.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, docs...) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		inside := false
		for i, line := range strings.Split(string(raw), "\n") {
			switch {
			case strings.Contains(line, "```"):
				if inside = !inside; !fence.MatchString(line) {
					t.Errorf("%s:%d: a fence shares its line with text", page, i+1)
				}
			case !inside && len([]rune(line)) > 120 && !strings.HasPrefix(strings.TrimSpace(line), "|") &&
				!strings.Contains(line, "](") && filepath.Base(page) != "errors.md": // that one is made by `make docs`
				t.Errorf("%s:%d: %d columns", page, i+1, len([]rune(line)))
			}
		}
		if inside {
			t.Errorf("%s: a fence has no partner", page)
		}
	}
}
