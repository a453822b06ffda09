package rpc_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

// late is a Caller that answers after a delay.
type late struct{ takes time.Duration }

func (l late) Call(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	select {
	case <-time.After(l.takes):
		return json.RawMessage("[]"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (late) Close() {}

// TestOnUnanswered: OnUnanswered is called once if the first call has no answer, and never after an answer.
func TestOnUnanswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes []time.Duration // of one call after the other
		want  int
	}{
		"quick":             {[]time.Duration{time.Second, 2 * time.Second}, 0},
		"late":              {[]time.Duration{4 * time.Second, 4 * time.Second}, 1},
		"never":             {[]time.Duration{time.Hour, time.Hour}, 1},
		"late at the third": {[]time.Duration{time.Second, time.Second, 10 * time.Second}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				called := 0
				db := &late{}
				s := rpc.New(db, "acme", rpc.Options{OnUnanswered: func() { called++ }})
				for _, db.takes = range c.takes {
					_, _ = s.Jobs(t.Context(), store.JobFilter{Limit: 1})
				}
				synctest.Wait()
				if called != c.want {
					t.Errorf("called %d times, want %d", called, c.want)
				}
			})
		})
	}
}
