package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// late is a Caller that answers after a delay, and a probe after another one.
type late struct{ takes, probe time.Duration }

func (l late) Call(ctx context.Context, fn string, _ json.RawMessage) (json.RawMessage, error) {
	takes := l.takes
	if fn == "aw_check" {
		takes = l.probe
	}
	select {
	case <-time.After(takes):
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
				s := rpc.New(db, "acme", rpc.Options{OnUnanswered: func(time.Duration) { called++ }})
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

// TestPatience: under a context with a patience a call ends if the database hangs, and not if it is slow.
func TestPatience(t *testing.T) {
	t.Parallel()
	const patience = 8 * time.Second
	for name, c := range map[string]struct {
		patience time.Duration
		db       late
		took     time.Duration // virtual
		want     string        // of the error
	}{
		"answered":         {patience, late{time.Second, time.Hour}, time.Second, ""},
		"slow":             {patience, late{time.Minute, time.Second}, time.Minute, ""},
		"hangs":            {patience, late{time.Hour, time.Hour}, patience, "the database did not answer aw_jobs within 8s"},
		"hangs, patiently": {0, late{time.Hour, 0}, 90 * time.Second, "aw_jobs was stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := rpc.New(c.db, "acme", rpc.Options{})
				began := time.Now()
				_, err := s.Jobs(store.WithPatience(t.Context(), c.patience), store.JobFilter{Limit: 1})
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if c.want == "" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				e, ok := errors.AsType[*taskerr.Error](err)
				if !ok || !strings.Contains(err.Error(), c.want) || !errors.Is(err, context.DeadlineExceeded) ||
					errors.Is(err, context.Canceled) || e.Class != taskerr.TransientStorage ||
					e.Dependency != taskerr.Database {
					t.Errorf("%v, want %s", err, c.want)
				}
				// It is not taken for an answer: the next call ends as well.
				began = time.Now()
				if _, err := s.Jobs(store.WithPatience(t.Context(), c.patience), store.JobFilter{}); err == nil ||
					time.Since(began) != c.took {
					t.Errorf("the next call took %v, want %v: %v", time.Since(began), c.took, err)
				}
			})
		})
	}
}
