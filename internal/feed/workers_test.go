package feed_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// WakeWorkers reaches the workers of its own tenant on the same database, and events don't.
func TestWakeWorkersAcrossProcesses(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{})
	s := open(t, url) // of the tenant a
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	heard, other := make(chan struct{}, 10), make(chan struct{}, 10)
	ended := make(chan struct{}, 2)
	for client, to := range map[string]chan struct{}{"a": heard, "b": other} {
		go func() {
			defer func() { ended <- struct{}{} }()
			postgres.KeepListening(ctx, url, postgres.TasksChannel(client), func() { to <- struct{}{} }, func(err error) {
				t.Errorf("listen for %s: %v", client, err)
			})
		}()
		<-to // connected
	}
	if err := errors.Join(s.Wake(t.Context(), []string{"job"}), s.WakeWorkers(t.Context())); err != nil {
		t.Fatal(err)
	}
	<-heard
	stop()
	<-ended
	<-ended
	if len(heard) > 0 || len(other) > 0 {
		t.Errorf("%d more notifications, and %d of another tenant", len(heard), len(other))
	}
}
