package webhook_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// The loop counts the due deliveries that it can't send yet, until none is left.
func TestLoopCountsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		loop, _ := run(t, webhook.Config{
			Deliveries: box,
			Sender: &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
				time.Sleep(time.Second)
				return webhook.Attempt{Status: 200}
			}},
		})
		for i := range 1100 {
			box.add(fmt.Sprint("hook-", i), "https://a.example/")
		}
		loop.Wake()
		advance(10 * time.Second)
		if n := loop.Due(); n != 1001 {
			t.Errorf("%d are due, want the highest count", n)
		}
		advance(100 * time.Second) // four per second
		if n := loop.Due(); n < 600 || n > 700 {
			t.Errorf("%d are due after 440 attempts", n)
		}
		advance(10 * time.Minute)
		if n := loop.Due(); n != 0 {
			t.Errorf("%d are due at the end", n)
		}
	})
}
