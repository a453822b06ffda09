package main

import (
	"context"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/queue/azure/azurestub"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

// TestBareLoop has the bare loop of each queue get what was sent to it: it is the measure of the others, and where its
// messages went elsewhere, as they did on NATS, the benchmark waited for them without an end.
func TestBareLoop(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) (backend, error){
		"azure": func(t *testing.T) (backend, error) {
			stub, err := azurestub.Start()
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = stub.Close() })
			return azureBackend{stub.ConnectionString()}, nil
		},
		"nats":     func(t *testing.T) (backend, error) { return startNATS(t.Context()) },
		"postgres": func(t *testing.T) (backend, error) { return openPG(t.Context(), stacktest.Postgres(t), false) },
		"pgmq":     func(t *testing.T) (backend, error) { return openPG(t.Context(), stacktest.Postgres(t), true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := b.close(); err != nil {
					t.Error(err)
				}
			})
			const n = 40
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			for range 2 { // each round sends to the same queue
				if _, receives, err := bareRound(ctx, b, n); err != nil || receives == 0 {
					t.Fatalf("the bare loop ended after %d receives of %d messages: %v", receives, n, err)
				}
			}
		})
	}
}
