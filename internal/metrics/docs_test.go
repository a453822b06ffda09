package metrics_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/metrics"
)

var update = flag.Bool("update", false, "rewrite the table of metrics in docs/observability.md")

// The table in docs/observability.md is generated from Definitions.
func TestObservabilityTable(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/observability.md", "<!-- metrics: made by `make docs` -->\n",
		"<!-- /metrics -->"
	before, rest, ok := strings.Cut(read(t, path), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the metrics between %q and %q", path, begin, end)
	}
	want := before + begin + "\n" + metrics.Markdown() + "\n" + end + after
	if read(t, path) == want {
		return
	}
	if !*update {
		t.Fatalf("the table of metrics in %s is stale; run: make docs", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
