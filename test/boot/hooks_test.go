package boot

import (
	"context"
	"testing"

	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// newHooks receives webhooks, and fails the test at one that is signed wrong.
func newHooks(t *testing.T) *receiver.Receiver {
	t.Helper()
	r, err := receiver.Open(receiver.Options{Reject: func(_ string, problem error) { t.Error(problem) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// webhook waits for the first webhook of a task.
func (h *host) webhook(t *testing.T, task string) receiver.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, err := h.hooks.Await(ctx, task)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
