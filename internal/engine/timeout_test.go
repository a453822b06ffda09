package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestTimeoutHint: a timeout that the sender has set is not mended by the worker's setting.
func TestTimeoutHint(t *testing.T) {
	for hints, says := range map[string]string{
		`{}`:                    "raise it",
		`{"timeout_seconds":7}`: "the task's hints.timeout_seconds is too short",
	} {
		t.Run(hints, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start(func(ctx context.Context, _ handlers.Call) (handlers.Outcome, error) {
					<-ctx.Done()
					return handlers.Outcome{}, context.Cause(ctx)
				})
				w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"hints":`+hints+`}`)
				w.settled(time.Hour)
				w.expectLog(string(taskerr.Timeout), says)
				trouble := w.health("test").Trouble
				if trouble == nil || !strings.Contains(trouble.Hint, says) ||
					hints != "{}" && strings.Contains(trouble.Hint, "TASK_TIMEOUT_SEC") {
					t.Errorf("the trouble is %+v", trouble)
				}
			})
		})
	}
}
