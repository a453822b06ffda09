package config_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

// The table in docs/settings.md is generated from Settings.
func TestSettingsTable(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/settings.md", "<!-- settings: made by `make docs` -->\n", "<!-- /settings -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/settings.md has no place for the table between %q and %q", begin, end)
	}
	want := before + begin + "\n" + config.Markdown() + "\n" + end + after
	if string(raw) == want {
		return
	}
	if !*update {
		t.Fatal("docs/settings.md is stale; run: make docs")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
