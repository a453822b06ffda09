package handlers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
)

func TestStopped(t *testing.T) {
	broken, reason := errors.New("broken pipe"), errors.New("canceled by a user")
	ctx, stop := context.WithCancelCause(t.Context())
	if got := handlers.Stopped(ctx, broken); got != broken { //nolint:errorlint // this very error
		t.Errorf("before the end: %v, want the error as it is", got)
	}
	stop(reason)
	if got := handlers.Stopped(ctx, nil); got != nil {
		t.Errorf("of nil: %v", got)
	}
	got := handlers.Stopped(ctx, broken)
	if !errors.Is(got, reason) || !errors.Is(got, broken) || got.Error() != "canceled by a user: broken pipe" {
		t.Errorf("after the end: %v", got)
	}
	if again := handlers.Stopped(ctx, got); again.Error() != got.Error() {
		t.Errorf("twice: %v", again)
	}
}
