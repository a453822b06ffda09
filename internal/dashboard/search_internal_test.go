package dashboard

import (
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The filter of a cause of failures finds those that it counts, whatever the cause lacks.
func TestFailedLike(t *testing.T) {
	t.Parallel()
	for _, c := range []store.FailureCause{
		{Type: "ingest", Class: "network_timeout", Code: "INGEST_NETWORK_TIMEOUT"},
		{Type: "ingest", Class: "network_timeout"},
		{Class: "an odd one", Code: "X"},
	} {
		f := parseFilter(failedLike(c), time.Now())
		if q := f.Query; q.Status != "failed" || q.Type != c.Type || q.Class != c.Class || q.Code != c.Code || q.Text != "" ||
			len(f.Problems) > 0 {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}
