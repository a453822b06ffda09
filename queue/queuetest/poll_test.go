package queuetest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/queue"
)

// slow is a queue whose first receives take long and bring nothing.
type slow struct {
	queue.Queue
	left int
}

func (s *slow) Receive(context.Context, int, time.Duration) ([]*queue.Message, error) {
	if s.left == 0 {
		return []*queue.Message{{Peeked: queue.Peeked{Text: "late"}}}, nil
	}
	s.left--
	<-time.After(45 * time.Second)
	return nil, nil
}

// TestPollOutlastsSilence: a message is waited for while a back end on a busy machine is silent, and again.
func TestPollOutlastsSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, q: &slow{left: 6}}
		if m := b.await(time.Minute); m.Text != "late" {
			t.Errorf("got %q", m.Text)
		}
	})
}
