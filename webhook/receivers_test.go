package webhook_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// receivers answer by the function and count attempts.
type receivers struct {
	answer func(ctx context.Context, d store.Delivery) webhook.Attempt

	mu       sync.Mutex
	sent     []time.Time
	ids      []string
	now, max map[string]int // attempts at once, by host; "" for all
}

func (r *receivers) Send(ctx context.Context, d store.Delivery) webhook.Attempt {
	r.count(d, 1)
	defer r.count(d, -1)
	return r.answer(ctx, d)
}

func (r *receivers) count(d store.Delivery, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil {
		r.now, r.max = map[string]int{}, map[string]int{}
	}
	if n > 0 {
		r.sent = append(r.sent, time.Now())
		r.ids = append(r.ids, d.ID)
	}
	for _, key := range []string{"", hostOf(d.URL)} {
		r.now[key] += n
		r.max[key] = max(r.max[key], r.now[key])
	}
}

func (r *receivers) attempts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sent)
}

func always(a webhook.Attempt) *receivers {
	return &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt { return a }}
}

// run starts a loop in the bubble and returns it with a function that stops it.
func run(t *testing.T, cfg webhook.Config) (loop *webhook.Loop, stop func()) {
	t.Helper()
	cfg.Worker = "w-1"
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	loop, err := webhook.NewLoop(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return loop, stop
}

func advance(d time.Duration) {
	time.Sleep(d) // virtual time
	synctest.Wait()
}
