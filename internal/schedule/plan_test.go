package schedule

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// walk is planOf without a shortcut: each firing is looked at.
func walk(c Calendar, next, now time.Time, catchUp int, jitter func(time.Time) time.Duration) (p plan) {
	for !next.Add(jitter(next)).After(now) {
		following := c.Next(next)
		if now.Sub(next.Add(jitter(next))) <= min(lateness, following.Sub(next)/2) {
			p.now = next
		} else if p.owed = append(p.owed, next.UTC()); len(p.owed) > catchUp {
			p.owed, p.missed = p.owed[1:], p.missed+1
		}
		next = following
	}
	p.next = next
	return p
}

// TestPlanOfMany: what a schedule has missed in days is counted as if each firing were looked at.
func TestPlanOfMany(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 1, 12, 0, 0, 500, time.UTC)
	for _, cron := range []string{"@every 1s", "@every 61s", "@every 7h", "* * * * *"} {
		c, err := ParseCalendar(cron, "Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		for _, catchUp := range []int{0, 1, MaxCatchUp} {
			for _, most := range []time.Duration{0, time.Minute, MaxJitter} {
				for _, since := range []time.Duration{time.Second, time.Hour, 70 * time.Minute, 26 * time.Hour} {
					jitter := func(at time.Time) time.Duration { return c.Jitter("c", "s", at, most) }
					next := now.Truncate(time.Second).Add(-since)
					got, want := planOf(c, next, now, nil, catchUp, jitter), walk(c, next, now, catchUp, jitter)
					if got.missed != want.missed || !got.now.Equal(want.now) || !got.next.Equal(want.next) ||
						!slices.EqualFunc(got.owed, want.owed, time.Time.Equal) {
						t.Errorf("%s, catch up %d, jitter %v, %v late: missed %d of %d, owed %d of %d, now %v and not %v, next %v and not %v",
							cron, catchUp, most, since, got.missed, want.missed, len(got.owed), len(want.owed), got.now, want.now, got.next,
							want.next)
					}
				}
			}
		}
	}
}

// TestMillionsMissed: a schedule of every second that was asleep for a year is planned at once, and keeps what it may
// make up.
func TestMillionsMissed(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	c, err := ParseCalendar("@every 1s", "")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	p := planOf(c, now.AddDate(-1, 0, 0), now, []time.Time{now.AddDate(-1, 0, -1)}, 3, func(time.Time) time.Duration {
		looked++
		return 0
	})
	if want := 365*24*3600 - 3; p.missed != want+1 || len(p.owed) != 3 || !p.now.Equal(now) {
		t.Errorf("missed %d, want %d; owed %v; now %v", p.missed, want+1, p.owed, p.now)
	}
	if looked > 50_000 { // an hour and five minutes, a few times each
		t.Errorf("it looked at %d of 31,536,000 firings", looked)
	}
}

// TestJitterOfShortDistances: firings that are closer to each other than their jitter are all on time, and in order.
func TestJitterOfShortDistances(t *testing.T) {
	t.Parallel()
	for _, cron := range []string{"* * * * *", "*/5 8-9 * * *", "@every 1s", "@every 90s", "0 * * * *"} {
		c, err := ParseCalendar(cron, "Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		jitter := func(at time.Time) time.Duration { return c.Jitter("c", "s", at, MaxJitter) }
		next, spread := c.Next(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)), map[time.Duration]bool{}
		for range 200 {
			due, following := next.Add(jitter(next)), c.Next(next)
			if p := planOf(c, next, due, nil, 0, jitter); !p.now.Equal(next) || p.missed > 0 || !p.next.Equal(following) {
				t.Fatalf("%s: at %v, when %v is due: %+v", cron, due, next, p)
			}
			if !due.Before(following) {
				t.Fatalf("%s: %v fires at %v, and the next one is at %v", cron, next, due, following)
			}
			spread[jitter(next)] = true
			next = following
		}
		if len(spread) < 50 {
			t.Errorf("%s: %d delays in 200 firings", cron, len(spread))
		}
	}
}

// TestJitterChanged: another jitter moves the next firing within its own time, also one whose time has come.
func TestJitterChanged(t *testing.T) {
	checker := Checker{ClientID: "c", Check: func(task.Task) error { return nil }}
	next := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	was := store.Schedule{
		ID: "s", Cron: "0 10 * * *", TimeZone: "UTC", Overlap: store.OverlapSkip, Jitter: time.Hour, NextAt: &next,
		FiresAt: new(next.Add(40 * time.Minute)), Task: json.RawMessage(`{"task_type":"ingest","payload":{}}`),
	}
	change, err := checker.Change(was, store.ScheduleChange{ID: "s", Jitter: new(time.Duration(0))}, next.Add(10*time.Minute))
	if err != nil || change.NextAt != nil || change.FiresAt == nil || !change.FiresAt.Equal(next) {
		t.Errorf("%+v, %v", change, err)
	}
}
