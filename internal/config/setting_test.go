package config_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

func TestTableIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range config.Settings() {
		if seen[s.Name] || s.Help == "" || s.Groups == 0 || s.DefaultText() == "" || strings.HasSuffix(s.Help, ".") {
			t.Errorf("row %+v", s)
		}
		if s.Secret != (s.Flag() == "") {
			t.Errorf("%s: a secret has no flag, everything else has", s.Name)
		}
		seen[s.Name] = true
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	table := config.Markdown()
	if n := strings.Count(table, "\n"); n != len(config.Settings())+2 {
		t.Errorf("%d lines for %d settings", n, len(config.Settings()))
	}
	for _, want := range []string{
		"| `POLL_MIN_MS` | `100 ms` |",
		"| `AZURE_STORAGE_CONTAINER` | `<client>-documents` |", "| `HTTP_ADDR` | none |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is not in\n%s", want, table)
		}
	}
}
