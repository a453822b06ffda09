package webhook_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

// slowAnswers claims at once and answers a second later, or never if it is canceled before.
type slowAnswers struct{ *outbox }

func (s slowAnswers) ClaimDeliveries(ctx context.Context, c store.Claim) (store.ClaimedDeliveries, error) {
	claimed, err := s.outbox.ClaimDeliveries(ctx, c)
	select {
	case <-time.After(time.Second):
		return claimed, err
	case <-ctx.Done():
		return store.ClaimedDeliveries{}, ctx.Err()
	}
}

// A stop during a claim hides nothing: the claimed deliveries are sent.
func TestLoopStoppedDuringAClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		last := box.add("last", "https://a.example/")
		_, stop := run(t, webhook.Config{Deliveries: slowAnswers{box}, Sender: always(webhook.Attempt{Status: 200})})
		advance(500 * time.Millisecond)
		stop()
		if got := box.state(last); got.status != store.DeliveryDelivered {
			t.Errorf("got %+v, want it delivered", got)
		}
	})
}
