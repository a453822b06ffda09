package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// longWait is how long a document may wait for Cognee without a warning: a long run of cognify holds up its set.
const longWait = time.Hour

func cogneeChecks(ctx context.Context, w *Worker) []Result {
	results := []Result{ok("cognee", "it answers, and accepts the key")}
	if err := w.within(ctx, w.Cognee); err != nil {
		results[0] = failed("cognee", err, "check COGNEE_URL and COGNEE_API_KEY; until it answers, documents wait in the "+
			"database")
	}
	return append(results, cogneeOutbox(ctx, w))
}

func cogneeOutbox(ctx context.Context, w *Worker) Result {
	const check = "cognee outbox"
	if w.CogneeState == nil {
		return Result{Check: check, State: Skipped, Seen: "the settings of the store are wrong"}
	}
	var s store.CogneeState
	if err := w.within(ctx, func(ctx context.Context) (err error) { s, err = w.CogneeState(ctx); return err }); err != nil {
		return failed(check, err, "see the checks of the store")
	}
	seen := fmt.Sprintf("%d documents wait, %d were refused, %d were given up", s.Pending, s.Refused, s.Failed)
	switch {
	case !s.Enabled:
		return ok(check, "no worker has had COGNEE_URL yet")
	case s.Refused+s.Failed > 0:
		return Result{
			Check: check, State: Warn, Seen: seen,
			Remedy: "async-worker cognee status shows why; when the cause is gone: async-worker cognee retry",
		}
	case s.Oldest > longWait:
		return Result{
			Check: check, State: Warn, Seen: seen + "; the oldest since " + s.Oldest.Round(time.Minute).String(),
			Remedy: "async-worker cognee status shows what Cognee is doing; is a worker running?",
		}
	}
	return ok(check, "%s", seen)
}
