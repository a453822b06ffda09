package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// slowDatabase is a Caller that answers begins after a delay: every job is new, except the one named old.
type slowDatabase struct {
	alone    func(id string) error // of aw_begin; may be nil
	together error                 // of aw_begin_all
	takes    time.Duration

	mu    sync.Mutex
	calls []string // function and ids of the jobs of each call
}

func (d *slowDatabase) Call(ctx context.Context, fn string, p json.RawMessage) (json.RawMessage, error) {
	var args struct {
		JobID  string `json:"job_id"`
		Begins []struct {
			JobID string `json:"job_id"`
		} `json:"begins"`
	}
	if err := json.Unmarshal(p, &args); err != nil {
		return nil, err
	}
	ids, answers := args.JobID, []map[string]any{}
	for i, b := range args.Begins {
		if ids += " " + b.JobID; b.JobID != "old" {
			answers = append(answers, map[string]any{"n": i + 1, "decision": "run", "fence": 1, "state": b.JobID})
		}
	}
	d.mu.Lock()
	d.calls = append(d.calls, fn+" "+ids)
	d.mu.Unlock()
	select {
	case <-time.After(d.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if fn == "aw_begin" {
		if d.alone != nil {
			if err := d.alone(args.JobID); err != nil {
				return nil, err
			}
		}
		decision := "run"
		if args.JobID == "old" {
			decision = "done"
		}
		return json.RawMessage(fmt.Sprintf(`{"decision":%q,"fence":1,"state":%q}`, decision, args.JobID)), nil
	}
	slices.Reverse(answers)
	raw, err := json.Marshal(answers)
	return raw, errors.Join(err, d.together)
}

func (*slowDatabase) Close() {}

// beginAll begins jobs one after the other without waiting for the answers, and returns the answers.
func beginAll(ctx context.Context, s store.Store, ids ...string) (decisions map[string]string) {
	decisions = map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			begun, err := s.Begin(ctx, store.Begin{Task: store.Task{JobID: id}})
			said := string(begun.Decision)
			if err == nil && begun.State != id {
				said = "the answer to " + begun.State
			} else if err != nil {
				said = "error"
			}
			mu.Lock()
			defer mu.Unlock()
			decisions[id] = said
		})
		synctest.Wait()
	}
	wg.Wait()
	return decisions
}

// TestBeginsAreBatched: begins that arrive while two calls are in flight are sent together, and each gets its answer.
func TestBeginsAreBatched(t *testing.T) {
	t.Parallel()
	raised := &rpc.SQLError{State: "22003"}
	for name, c := range map[string]struct {
		together error
		alone    func(id string) error
		calls    int // in all
		want     map[string]string
	}{
		"new ones, one that is not": {
			nil, nil, 4,
			map[string]string{"a": "run", "b": "run", "c": "run", "old": "done", "d": "run"},
		},
		"refused, so each alone": {
			raised, nil, 6,
			map[string]string{"a": "run", "b": "run", "c": "run", "old": "done", "d": "run"},
		},
		"refused for what one of them says": {
			raised,
			func(id string) error { return map[string]error{"d": raised}[id] }, 6,
			map[string]string{"a": "run", "b": "run", "c": "run", "old": "done", "d": "error"},
		},
		"unknown outcome": {
			errors.New("connection reset"), nil, 3,
			map[string]string{"a": "run", "b": "run", "c": "error", "old": "error", "d": "error"},
		},
		// Sent again, a begin would find the job leased, by itself, and the engine would not report it as unanswered.
		"unknown outcome, by the pooler": {
			&rpc.SQLError{State: "08P01", Message: "server conn crashed?"}, nil, 3,
			map[string]string{"a": "run", "b": "run", "c": "error", "old": "error", "d": "error"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := &slowDatabase{together: c.together, alone: c.alone, takes: 10 * time.Millisecond}
				got := beginAll(t.Context(), rpc.New(db, "a", rpc.Options{}), "a", "b", "c", "old", "d")
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
				if len(db.calls) != c.calls || db.calls[2] != "aw_begin_all  c old d" {
					t.Errorf("calls: %q", db.calls)
				}
			})
		})
	}
}

// TestBatchIsBounded: a batch has at most as many calls as a receive returns, and a stuck call delays no other.
func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ids []string
		for i := range 2 + 40 {
			ids = append(ids, fmt.Sprint(i))
		}
		began := time.Now()
		db := &slowDatabase{takes: time.Minute}
		for id, said := range beginAll(t.Context(), rpc.New(db, "a", rpc.Options{}), ids...) {
			if said != "run" {
				t.Errorf("%s: %s", id, said)
			}
		}
		if took := time.Since(began); len(db.calls) != 4 || took > time.Minute+time.Second {
			t.Errorf("%d calls in %s, want 4 that don't wait for each other: %q", len(db.calls), took, db.calls)
		}
	})
}

// TestBeginGivenUp: a begin whose context ends before it is sent returns at once and is not sent.
func TestBeginGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &slowDatabase{takes: 50 * time.Millisecond}
		s := rpc.New(db, "a", rpc.Options{})
		var wg sync.WaitGroup
		for _, id := range []string{"a", "b"} {
			wg.Go(func() { _, _ = s.Begin(t.Context(), store.Begin{Task: store.Task{JobID: id}}) })
			synctest.Wait() // so that each is in flight alone
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := s.Begin(ctx, store.Begin{Task: store.Task{JobID: "c"}})
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 10*time.Millisecond {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		wg.Wait()
		if len(db.calls) != 2 {
			t.Errorf("calls: %q", db.calls)
		}
	})
}
