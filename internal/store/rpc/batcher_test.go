package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
)

// slowEnds is a Caller that answers completions after a delay.
type slowEnds struct {
	together error // of aw_complete_all

	mu    sync.Mutex
	calls []string // ids of the jobs in each call: "a", or "b c d"
}

func (d *slowEnds) Call(_ context.Context, fn string, p json.RawMessage) (json.RawMessage, error) {
	type completion struct {
		JobID string `json:"job_id"`
	}
	var args struct {
		completion
		Completions []completion `json:"completions"`
	}
	if err := json.Unmarshal(p, &args); err != nil {
		return nil, err
	}
	ids, answers := []string{args.JobID}, []map[string]any{}
	if fn == "aw_complete_all" {
		ids = nil
	}
	for i, c := range args.Completions {
		ids = append(ids, c.JobID)
		answers = append([]map[string]any{{"n": i + 1, "state": c.JobID}}, answers...)
	}
	d.mu.Lock()
	d.calls = append(d.calls, strings.Join(ids, " "))
	d.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	if fn == "aw_complete" {
		return json.RawMessage(fmt.Sprintf(`{"state":%q}`, args.JobID)), nil
	}
	raw, err := json.Marshal(answers)
	return raw, errors.Join(err, d.together)
}

func (*slowEnds) Close() {}

// TestCompletionsAreBatched: completions are batched as begins are, except one with an effect that is not brief.
func TestCompletionsAreBatched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		together error
		calls    string
		want     string
	}{
		"all": {nil, "[a b slow c brief]", "map[a:a b:b brief:brief c:c slow:slow]"},
		"one of them refused": {
			&rpc.SQLError{State: "AW001", Message: "job c is not held"},
			"[a b slow c brief c brief]", "map[a:a b:b brief:brief c:c slow:slow]",
		},
		"unknown outcome": {
			errors.New("connection reset"), "[a b slow c brief]",
			"map[a:a b:b brief:error c:error slow:slow]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := &slowEnds{together: c.together}
				s := rpc.New(db, "a", rpc.Options{})
				said := map[string]string{}
				var mu sync.Mutex
				var wg sync.WaitGroup
				for _, id := range []string{"a", "b", "slow", "c", "brief"} {
					done := store.Completion{Holder: store.Holder{JobID: id}}
					switch id {
					case "slow":
						done.Effects = []store.Effect{{Kind: store.EffectActivateDocument}}
					case "brief":
						done.Effects = []store.Effect{{Kind: store.EffectKeepDocument}}
					}
					wg.Go(func() {
						settled, err := s.Complete(t.Context(), done)
						if err != nil {
							settled.State = "error"
						}
						mu.Lock()
						defer mu.Unlock()
						said[id] = settled.State
					})
					synctest.Wait()
				}
				wg.Wait()
				calls := strings.Fields(strings.Join(db.calls, " "))
				if len(calls) > 5 { // the last two were sent alone, in either order
					calls = append(calls[:5], "c", "brief")
				}
				if fmt.Sprint(calls) != c.calls || db.calls[3] != "c brief" || fmt.Sprint(said) != c.want {
					t.Errorf("calls %q, answers %v", db.calls, said)
				}
			})
		})
	}
}

// TestCallsAtOnce: of calls that come at once, some of which are given up, each gets its own answer, none is done twice, and
// afterwards a call is sent at once, alone.
func TestCallsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		done, alone := map[int]int{}, 0
		do := func(n int) *int {
			mu.Lock()
			defer mu.Unlock()
			done[n]++
			answer := 2 * n
			return &answer
		}
		b := &rpc.Batcher[int, int]{
			Alone: func(_ context.Context, n int) (int, error) {
				time.Sleep(time.Millisecond)
				mu.Lock()
				alone++
				mu.Unlock()
				return *do(n), nil
			},
			Together: func(all []int) (answers []*int, err error) {
				time.Sleep(time.Millisecond)
				for _, n := range all {
					if n%7 == 0 { // has to be sent alone
						answers = append(answers, nil)
						continue
					}
					answers = append(answers, do(n))
				}
				return answers, nil
			},
			GivenUp: context.Cause,
		}
		var wg sync.WaitGroup
		for caller := range 64 {
			wg.Go(func() {
				for i := range 20 {
					n, ctx := 1+caller*20+i, t.Context()
					if n%5 == 0 {
						short, cancel := context.WithTimeout(ctx, time.Duration(n%4)*time.Millisecond/2)
						defer cancel()
						ctx = short
					}
					if got, err := b.Do(ctx, n); err == nil && got != 2*n || err != nil && ctx.Err() == nil {
						t.Errorf("%d: %d, %v", n, got, err)
					}
				}
			})
		}
		wg.Wait()
		for n, times := range done {
			if times > 1 {
				t.Errorf("%d was done %d times", n, times)
			}
		}
		time.Sleep(time.Second)
		before, began := alone, time.Now()
		for n := range 2 { // as many as may be in flight
			wg.Go(func() { _, _ = b.Do(t.Context(), -1-n) })
			synctest.Wait()
		}
		wg.Wait()
		if took := time.Since(began); alone != before+2 || took != time.Millisecond {
			t.Errorf("after all others two calls took %v, %d of them alone", took, alone-before)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Do(gone, -9); !errors.Is(err, context.Canceled) || done[-9] != 0 {
			t.Errorf("a call whose context has ended: %v, done %d times", err, done[-9])
		}
	})
}
