package app

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestStatusLine(t *testing.T) {
	t.Parallel()
	at := func(clock string) time.Time {
		when, err := time.ParseInLocation(time.DateTime, "2026-05-04 "+clock, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	before := func(d time.Duration) *time.Time {
		then := at("13:00:00").Add(-d)
		return &then
	}
	since := func(clock string, class taskerr.Class, hint string) *engine.Trouble {
		return &engine.Trouble{Since: at(clock), Class: class, Hint: hint}
	}
	for want, h := range map[string]engine.Health{
		"idle, 0 done, 0 failed": {
			Queues:       []engine.QueueHealth{{Name: "acme-tasks"}},
			Dependencies: []engine.DependencyHealth{{Name: taskerr.Model, State: "closed", Since: at("11:00:00")}},
			Types:        []engine.TypeHealth{{Type: "ingest", Limit: 8}},
		},
		"working on 3 of 8, 0 done, 0 failed; model down since 12:04 (breaker open)": {
			Running: 3, Dependencies: []engine.DependencyHealth{
				{Name: taskerr.Model, State: "open", Since: at("12:04:59")},
			},
		},
		"working on 3 of 8, 0 done, 0 failed; model down since 2026-05-03 12:04 (breaker half-open)": {
			Running: 3, Dependencies: []engine.DependencyHealth{
				{Name: taskerr.Model, State: "half-open", Since: at("12:04:59").AddDate(0, 0, -1)},
			},
		},
		"degraded: the database has not answered since 12:03; messages wait, no attempt is counted; working on 2 of 8, 0 done, 0 failed": {
			Running: 2, Store: &engine.StoreHealth{
				Trouble: *since("12:03:00", taskerr.TransientStorage, "check it"), Wait: time.Second,
			},
		},
		"degraded: the database has refused the worker since 12:03 (dependency_unavailable: migrate it); messages wait, no attempt is counted; working on 2 of 8, 0 done, 0 failed": {
			Running: 2, Store: &engine.StoreHealth{
				Trouble: *since("12:03:00", taskerr.DependencyUnavailable, "migrate it"), Wait: time.Second,
			},
		},
		"degraded: can't receive from acme-tasks since 12:01 (dependency_unavailable: check the role); idle, 12 done, 1 failed": {
			Done: 12, Failed: 1, Queues: []engine.QueueHealth{
				{Name: "acme-tasks-high"}, {
					Name:    "acme-tasks",
					Trouble: since("12:01:00", taskerr.DependencyUnavailable, "check the role"),
				},
			},
		},
		"working on 1 of 8, 0 done, 0 failed; ingest limited to 2 of 8 at a time (ai_rate_limit: raise it)": {
			Running: 1, Types: []engine.TypeHealth{
				{Type: "ingest", Limit: 2, Trouble: since("12:00:00", taskerr.AIRateLimit, "raise it")},
			},
		},
		"working on 1 of 8, 0 done, 0 failed; ingest limited to 7 of 8 at a time": {
			Running: 1, Types: []engine.TypeHealth{{Type: "ingest", Limit: 7}},
		},
		"working on 1 of 8, 0 done, 0 failed; ingest fails since 12:00 (transient_storage: the disk is full)": {
			Running: 1, Types: []engine.TypeHealth{
				{Type: "ingest", Limit: 8, Trouble: since("12:00:00", taskerr.TransientStorage, "the disk is full")},
			},
		},
		"draining 2 of 4, oldest 42 s": {
			Running: 2, Draining: true, DrainOf: 4,
			Oldest: before(42 * time.Second),
		},
		"draining 1 of 4, oldest 7 min 2 s": {
			Running: 1, Draining: true, DrainOf: 4,
			Oldest: before(422 * time.Second),
		},
		"draining 1 of 1, oldest 3 h 5 min": {
			Running: 1, Draining: true, DrainOf: 1,
			Oldest: before(185*time.Minute + time.Second),
		},
		"draining 0 of 0":                     {Draining: true},
		"working on 8 of 8, 3 done, 0 failed": {Running: 8, Done: 3},
		"degraded: the poll loop has been stuck since 12:59; idle, 0 done, 0 failed": {
			Stuck: []engine.StuckLoop{{Name: "the poll loop", Due: at("12:59:10")}},
		},
	} {
		h.At, h.Slots = at("13:00:00"), 8
		if got := StatusLine(h); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A line is shown when it changes, at most every few seconds, and never twice.
func TestStatusIsShownWhenItChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var shown []string
		var times []time.Duration
		err := showChanges(ctx, func() string {
			switch passed := time.Since(begun); { // changes at the start and at 30 s
			case passed == 0:
				return "a"
			case passed < 30*time.Second:
				return "c"
			}
			return "d"
		}, func(line string) error {
			shown, times = append(shown, line), append(times, time.Since(begun))
			return nil
		})
		if err != nil || !slices.Equal(shown, []string{"a", "c", "d"}) ||
			!slices.Equal(times, []time.Duration{0, statusEvery, 30 * time.Second}) {
			t.Errorf("shown: %v at %v, %v", shown, times, err)
		}
	})
	broken := errors.New("broken")
	if err := showChanges(t.Context(), func() string { return "a" },
		func(string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
