package dashboard

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Each run of a job has a bar of its own, also one with the number of the run before: after a release, which is not
// counted (I9), and in another series.
func TestTimelineOfRuns(t *testing.T) {
	t.Parallel()
	for stages, want := range map[string]string{
		"1 started, 1 extracting, 1 released, 1 started, 1 extracting":                    "1 released, 1 ",
		"1 started, 1 extracting, 1 retrying, 2 started, 2 embedding, 2 completed":        "1 retrying, 2 completed",
		"1 started, 1 completed, 1 restarted, 1 started, 1 extracting":                    "1 completed, 1 ",
		"1 started, 1 extracting, 1 worker_lost, 1 started, 1 extracting, 1 completed":    "1 worker lost, 1 completed",
		"1 extracting, 1 released, 1 started, 1 extracting, 1 embedding, 1 embedding":     "1 released, 1 ",
		"0 queued, 1 started, 1 extracting, 1 embedding, 1 failed, 1 restarted, 1 failed": "1 failed, 1 failed",
	} {
		var events []store.JobEvent
		for i, s := range strings.Split(stages, ", ") {
			e := store.JobEvent{At: time.Unix(int64(i), 0)}
			if _, err := fmt.Sscan(s, &e.Attempt, &e.Stage); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		var got []string
		for _, a := range timelineOf(store.Job{Status: "running"}, events).Attempts {
			got = append(got, fmt.Sprintf("%d %s", a.Number, a.End))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: got %q, want %q", stages, text, want)
		}
	}
}
