package metrics_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/metrics"
	"github.com/seed-7227ef26/async-worker/test/generated"
)

// The table in docs/observability.md is generated from the table that creates the metrics.
func TestObservabilityTable(t *testing.T) {
	t.Parallel()
	generated.Part(t, "../../docs/observability.md", "metrics", metrics.Markdown())
}
