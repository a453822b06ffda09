package simulation

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
)

// spoiled is a store with a bug: a nil function means that the call is correct.
type spoiled struct {
	*memory.Jobs
	begin    func(context.Context, store.Begin) (store.BeginAnswer, error)
	complete func(context.Context, store.Completion) (store.Settlement, error)
	fail     func(context.Context, store.Failure) (store.Settlement, error)
	release  func(context.Context, store.Release) (store.Settlement, error)
	canceled func(context.Context, store.Holder, []store.Event) (store.Settlement, error)
	sweep    func() (store.SweepAnswer, error)
	noted    func(ctx context.Context, id string) error
}

func (s *spoiled) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	if s.begin != nil {
		return s.begin(ctx, b)
	}
	return s.Jobs.Begin(ctx, b)
}

func (s *spoiled) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	if s.complete != nil {
		return s.complete(ctx, c)
	}
	return s.Jobs.Complete(ctx, c)
}

func (s *spoiled) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	if s.fail != nil {
		return s.fail(ctx, f)
	}
	return s.Jobs.Fail(ctx, f)
}

func (s *spoiled) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	if s.release != nil {
		return s.release(ctx, r)
	}
	return s.Jobs.Release(ctx, r)
}

func (s *spoiled) Canceled(ctx context.Context, h store.Holder, e []store.Event) (store.Settlement, error) {
	if s.canceled != nil {
		return s.canceled(ctx, h, e)
	}
	return s.Jobs.Canceled(ctx, h, e)
}

func (s *spoiled) Sweep(ctx context.Context, o store.SweepAges, n int) (store.SweepAnswer, error) {
	if s.sweep != nil {
		return s.sweep()
	}
	return s.Jobs.Sweep(ctx, o, n)
}

func (s *spoiled) DeadLetterSent(ctx context.Context, id string) error {
	if s.noted != nil {
		return s.noted(ctx, id)
	}
	return s.Jobs.DeadLetterSent(ctx, id)
}

// bugs are bugs of a store, and of a worker that deletes a message as soon as it receives it.
func bugs() map[string]func(w *world, s *spoiled) {
	return map[string]func(w *world, s *spoiled){
		"a stale fence is accepted": func(_ *world, s *spoiled) {
			s.complete = func(ctx context.Context, c store.Completion) (store.Settlement, error) {
				r, _ := s.Row(c.JobID)
				c.Fence = r.Fence
				return s.Jobs.Complete(ctx, c)
			}
		},
		"another payload is the same job": func(_ *world, s *spoiled) {
			s.begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
				if r, ok := s.Row(b.JobID); ok {
					b.Fingerprint = r.Fingerprint
				}
				return s.Jobs.Begin(ctx, b)
			}
		},
		"a message is reported each time": func(_ *world, s *spoiled) {
			var n atomic.Int64
			s.begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
				if r, ok := s.Row(b.JobID); ok && r.State == job.Failed {
					b.Source.MessageID += "." + strconv.FormatInt(n.Add(1), 10)
				}
				return s.Jobs.Begin(ctx, b)
			}
		},
		"a duplicate of a failed job is not reported": func(_ *world, s *spoiled) {
			s.begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
				if r, ok := s.Row(b.JobID); ok && r.State == job.Failed && !b.Force {
					b.Source.InsertedAt = time.Time{}
				}
				return s.Jobs.Begin(ctx, b)
			}
		},
		"a release costs an attempt": func(_ *world, s *spoiled) {
			s.release = func(ctx context.Context, r store.Release) (store.Settlement, error) {
				return s.Retry(ctx, store.Retry{Holder: r.Holder, Events: r.Events})
			}
		},
		"a failure makes two dead letters": func(_ *world, s *spoiled) {
			s.fail = func(ctx context.Context, f store.Failure) (store.Settlement, error) {
				settled, err := s.Jobs.Fail(ctx, f)
				if err == nil {
					_, err = s.Reject(ctx, store.Rejection{JobID: f.JobID, Error: f.Error, Reason: f.Reason})
				}
				return settled, err
			}
		},
		"a cancel is acknowledged and not recorded": func(_ *world, s *spoiled) {
			s.canceled = func(context.Context, store.Holder, []store.Event) (store.Settlement, error) {
				return store.Settlement{State: string(job.Canceled)}, nil
			}
		},
		"an effect is carried out twice": func(w *world, s *spoiled) {
			s.OnEffect = func(h store.Holder, e store.Effect) error {
				w.book.effects[h.JobID] = append(w.book.effects[h.JobID], effect{})
				return w.apply(h, e)
			}
		},
		"no sweep": func(_ *world, s *spoiled) {
			s.sweep = func() (store.SweepAnswer, error) { return store.SweepAnswer{}, nil }
		},
		"a dead letter's copy is not recorded": func(_ *world, s *spoiled) {
			var lost atomic.Int32 // bounded: each copy is followed by the next at once
			s.noted = func(ctx context.Context, id string) error {
				if lost.Add(1) > 100 {
					return s.Jobs.DeadLetterSent(ctx, id)
				}
				return nil
			}
		},
		"a message is deleted as it is received": func(w *world, _ *spoiled) { w.hasty = true },
	}
}

// TestTeeth: the simulation finds each of these bugs within some schedules.
func TestTeeth(t *testing.T) {
	for name, bug := range bugs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(1000) {
				found := simulate(t, seed+1, newTally(), func(w *world) {
					s := &spoiled{Jobs: w.store}
					w.jobs = s
					bug(w, s)
				})
				if len(found) > 0 {
					t.Logf("found in schedule %d: %s", seed+1, found[0].what)
					return
				}
			}
			t.Error("not found in 1,000 schedules")
		})
	}
}
