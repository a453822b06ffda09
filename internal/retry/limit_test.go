package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

var errSlow = errors.New("too slow")

// The clock of a limit stands while somebody waits, and its parent bounds all.
func TestWithLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		parent, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		ctx, cancel := retry.WithLimit(parent, 10*time.Second, errSlow)
		defer cancel()
		within, done := context.WithCancel(ctx)
		defer done()
		sleep := func(d time.Duration) { _ = retry.Sleep(parent, d) }
		sleep(4 * time.Second)
		one, two := retry.Waiting(within), retry.Waiting(ctx)
		sleep(time.Minute)
		one()
		one()
		sleep(time.Minute)
		if at, ok := ctx.Deadline(); !ok || time.Until(at) != 6*time.Second || ctx.Err() != nil {
			t.Errorf("while it stands: %v, %v", time.Until(at), ctx.Err())
		}
		two()
		<-within.Done()
		if took := time.Since(start); took != 2*time.Minute+10*time.Second || !errors.Is(context.Cause(within), errSlow) {
			t.Errorf("it ended after %v: %v", took, context.Cause(within))
		}

		ctx, cancel = retry.WithLimit(parent, 10*time.Second, errSlow)
		defer cancel()
		over := retry.Waiting(ctx)
		defer over()
		<-ctx.Done()
		if time.Since(start) != time.Hour || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("the parent ended after %v: %v", time.Since(start), context.Cause(ctx))
		}
		if at, _ := ctx.Deadline(); !at.Equal(start.Add(time.Hour)) {
			t.Errorf("the deadline is %v", at)
		}

		ctx, cancel = retry.WithLimit(t.Context(), time.Second, errSlow)
		over = retry.Waiting(ctx)
		cancel()
		over()
		sleep(0)
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("canceled: %v", context.Cause(ctx))
		}
		retry.Waiting(t.Context())() // without a limit
	})
}
