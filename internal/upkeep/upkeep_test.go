package upkeep_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/upkeep"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// during runs the chores for so long, in virtual time.
func during(t *testing.T, d time.Duration, chores ...upkeep.Chore) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	upkeep.Run(ctx, slog.New(slog.DiscardHandler), chores...)
}

// fake is a store of which so much can be removed.
type fake struct {
	rows  int
	calls int
	asked store.Collection
	err   error
}

func (f *fake) Collect(_ context.Context, c store.Collection) (store.CollectAnswer, error) {
	f.calls++
	f.asked = c
	if f.err != nil {
		return store.CollectAnswer{}, f.err
	}
	n := min(f.rows, c.Limit)
	f.rows -= n
	return store.CollectAnswer{Superseded: n, More: n == c.Limit}, nil
}

// An idle tenant pays for a few calls a day.
func TestIdleCostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		during(t, 10*24*time.Hour, upkeep.Documents(f, time.Hour))
		if f.calls < 35 || f.calls > 45 {
			t.Errorf("%d calls in ten days, want about 40", f.calls)
		}
		if f.asked.SupersededFor != time.Hour || f.asked.AbandonedFor < 24*time.Hour {
			t.Errorf("asked for %+v", f.asked)
		}
	})
}

// Much is removed in one round, batch by batch; and a worker that doesn't live long has one.
func TestBacklogIsRemovedInOneRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{rows: 2500}
		during(t, time.Hour, upkeep.Documents(f, 0))
		if f.rows != 0 {
			t.Errorf("%d versions are left after an hour", f.rows)
		}
	})
}

func (f *fake) RemoveChunks(_ context.Context, limit int) (store.RemovedChunks, error) {
	f.calls++
	n := min(f.rows, limit)
	f.rows -= n
	return store.RemovedChunks{Removed: n, More: n == limit}, nil
}

// What commits left is removed soon after them, and a worker that always has tasks asks the store once a minute.
func TestDueRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, due := &fake{rows: 1000}, make(chan struct{}, 1)
		c := upkeep.Chunks(f, due)
		due <- struct{}{}
		during(t, 3*time.Minute, c)
		if f.rows != 0 {
			t.Errorf("%d chunks are left minutes after the commit", f.rows)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				select {
				case due <- struct{}{}:
				case <-ctx.Done():
				}
			}
		}()
		f.calls = 0
		during(t, time.Hour, c)
		cancel()
		if f.calls < 55 || f.calls > 61 {
			t.Errorf("%d calls in an hour of tasks, want one a minute", f.calls)
		}
	})
}

// A store that fails is asked again hours later, not at once.
func TestFailuresAreNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{rows: 10, err: errors.New("down")}
		during(t, 24*time.Hour, upkeep.Documents(f, 0))
		if f.calls < 3 || f.calls > 6 {
			t.Errorf("%d calls in a day of failures", f.calls)
		}
		f.err = nil
		during(t, time.Hour, upkeep.Documents(f, 0))
		if f.rows != 0 {
			t.Error("nothing was removed once it was up again")
		}
	})
}

// A worker that stops doesn't wait for the rest of a backlog.
func TestStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{rows: 1 << 30}
		during(t, time.Hour, upkeep.Documents(f, 0))
		if f.rows == 0 || f.calls > 10*3600 {
			t.Errorf("%d calls, %d rows left", f.calls, f.rows)
		}
	})
}

// readings is a store with this number of old readings of pages.
type readings struct {
	store.Pages
	rows      int
	olderThan time.Duration
}

func (r *readings) ExpirePageResults(_ context.Context, olderThan time.Duration, limit int) (int, error) {
	n := min(r.rows, limit)
	r.rows, r.olderThan = r.rows-n, olderThan
	return n, nil
}

// What was read of pages goes after a month, also from a tenant that reads no more.
func TestReadingsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &readings{rows: 1000}
		during(t, time.Hour, upkeep.Readings(r))
		if r.rows != 0 || r.olderThan != 30*24*time.Hour {
			t.Errorf("%d readings are left of those older than %v", r.rows, r.olderThan)
		}
	})
}

// partials is a store with this number of old answers of models.
type partials struct {
	store.Summaries
	rows      int
	olderThan time.Duration
}

func (p *partials) ExpirePartials(_ context.Context, olderThan time.Duration, limit int) (int, error) {
	n := min(p.rows, limit)
	p.rows, p.olderThan = p.rows-n, olderThan
	return n, nil
}

// What a model answered to parts of documents goes after a month, too.
func TestPartialsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &partials{rows: 1000}
		during(t, time.Hour, upkeep.Partials(p))
		if p.rows != 0 || p.olderThan != 30*24*time.Hour {
			t.Errorf("%d answers are left of those older than %v", p.rows, p.olderThan)
		}
	})
}

// expiry is a store with so many old jobs, of which nothing needs every second one.
type expiry struct {
	store.Expiry
	events, jobs, deliveries int
	keep                     [3]time.Duration
	looks, rounds            int
	took                     time.Duration // of a batch of events
}

func (e *expiry) ExpireEvents(_ context.Context, q store.EventExpiry) (store.ExpiredEvents, error) {
	time.Sleep(e.took)
	n := min(e.events, q.Events)
	e.events, e.keep[0] = e.events-n, q.Keep
	e.rounds++
	return store.ExpiredEvents{Events: n, Lost: 1, More: n == q.Events}, nil
}

func (e *expiry) ExpireDeliveries(_ context.Context, keep time.Duration, limit int) (int, error) {
	n := min(e.deliveries, limit)
	e.deliveries, e.keep[1] = e.deliveries-n, keep
	return n, nil
}

func (e *expiry) ExpireJobs(_ context.Context, q store.JobExpiry) (store.ExpiredJobs, error) {
	e.keep[2] = q.Keep
	at := 0
	if q.After != nil {
		at, _ = strconv.Atoi(q.After.ID)
	} else {
		e.rounds++
	}
	e.looks += min(q.Limit, e.jobs-at)
	gone := store.ExpiredJobs{Removed: q.Limit / 2}
	if at += q.Limit; at <= e.jobs {
		gone.Next = &store.EndedJob{ID: strconv.Itoa(at)}
	}
	return gone, nil
}

// Old rows go, each by its own age; in one round each job is looked at once, needed or not.
func TestRetention(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const days = 24 * time.Hour
		e := &expiry{events: 10_000, jobs: 2_700, deliveries: 1_100}
		lost := 0
		during(t, time.Hour, upkeep.Events(e, 7*days, func(n int) { lost += n }), upkeep.Deliveries(e, 30*days))
		if e.events != 0 || e.deliveries != 0 || lost == 0 {
			t.Errorf("%d events, %d deliveries are left, %d lost", e.events, e.deliveries, lost)
		}
		e.rounds = 0
		during(t, 24*time.Hour, upkeep.Jobs(e, 90*days))
		if e.looks != e.rounds*e.jobs || e.rounds < 3 || e.rounds > 6 {
			t.Errorf("%d looks at %d jobs in %d rounds", e.looks, e.jobs, e.rounds)
		}
		if e.keep != [3]time.Duration{7 * days, 30 * days, 90 * days} {
			t.Errorf("kept for %v", e.keep)
		}
	})
}

// A store that is slow gets more rest.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for took, want := range map[time.Duration]int{10 * time.Millisecond: 60 * 9, time.Second: 12, time.Minute: 1} {
			e := &expiry{events: 1 << 30, took: took}
			c := upkeep.Events(e, 0, func(int) {})
			c.Every = time.Nanosecond // the first round begins at once
			during(t, time.Minute, c)
			if e.rounds < want*9/10 || e.rounds > want*11/10+1 {
				t.Errorf("%d batches of %v in a minute, want about %d", e.rounds, took, want)
			}
		}
	})
}

// answers is a store of so many answers of the gateway, the oldest first.
type answers struct {
	store.Answers
	keys []string
}

func (a *answers) ExpireAnswers(_ context.Context, _ time.Duration, limit int) (old []store.ExpiredAnswer, _ error) {
	for _, key := range a.keys[:min(limit, len(a.keys))] {
		old = append(old, store.ExpiredAnswer{Key: key})
	}
	return old, nil
}

func (a *answers) ForgetAnswers(_ context.Context, gone []store.ExpiredAnswer) (int, error) {
	for _, g := range gone {
		a.keys = slices.DeleteFunc(a.keys, func(key string) bool { return key == g.Key })
	}
	return len(gone), nil
}

// An answer whose blob can't be removed keeps no other; a container that doesn't answer is asked a few times.
func TestUnremovableAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, down, calls := &answers{keys: []string{"held", "b", "c", "held too", "e"}}, false, 0
		chore := upkeep.Answers(a, func(_ context.Context, x store.ExpiredAnswer) error {
			calls++
			if down || strings.HasPrefix(x.Key, "held") {
				return errors.New("a policy keeps the blob")
			}
			return nil
		})
		during(t, time.Hour*24, chore)
		if want := []string{"held", "held too"}; !slices.Equal(a.keys, want) {
			t.Errorf("%v are kept, want %v", a.keys, want)
		}
		down, calls = true, 0
		a.keys = make([]string, 200)
		if n, more, err := chore.Do(t.Context()); n > 0 || more || err == nil || calls > 10 {
			t.Errorf("%d removed in %d calls, %v, %v", n, calls, more, err)
		}
	})
}
