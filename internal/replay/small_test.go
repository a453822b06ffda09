package replay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// small is a queue whose server takes messages of 8 KiB at most.
type small struct{ queue.Queue }

func (q small) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	if len(text) > 8<<10 {
		return "", queue.ErrTooLarge
	}
	return q.Queue.Send(ctx, text, o)
}

// A replay that is larger than the queue's server allows goes as a claim check.
func TestReplayToSmallQueue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	open := b.Queue
	b.Queue = func(p task.Priority) queue.Queue { return small{open(p)} }
	id := b.reject(fmt.Sprintf(`{"task_id":"t1","task_type":"agent","payload":{"prompt":%q}}`, strings.Repeat("x", 20<<10)), nil)
	if _, err := b.Replay(t.Context(), id, replay.Options{}); err != nil {
		t.Fatal(err)
	}
	decoded, err := task.Decode(b.sent(), task.Options{ClientID: "c"})
	if err != nil || decoded.ClaimCheck == "" {
		t.Errorf("sent: %+v, %v", decoded, err)
	}
	if found, err := b.Store.Sweep(t.Context(), store.SweepAges{}, 10); err != nil || len(found.Unsent) > 0 {
		t.Errorf("a sweep would send it again: %+v, %v", found, err)
	}
}
