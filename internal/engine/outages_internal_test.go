package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAway: how long a worker was without its store, which decides whose job it leaves alone (I9).
func TestAway(t *testing.T) {
	const pause = 10 * time.Second
	type event struct {
		took   time.Duration
		query  bool // of cancel requests, which writes nothing
		failed bool
	}
	refused, hung := event{failed: true}, event{took: 5 * time.Second, failed: true}
	answered := event{}
	for name, c := range map[string]struct {
		events []event // each a minute after the last one ended
		after  time.Duration
		want   time.Duration
	}{
		"no outage":                 {[]event{answered, answered}, 0, 0},
		"it lasts":                  {[]event{answered, refused, refused}, 0, time.Minute},
		"it is over":                {[]event{answered, refused, refused, answered}, 0, 2 * time.Minute},
		"queries are answered":      {[]event{refused, {query: true}, refused, {query: true}, refused, answered}, 0, 5 * time.Minute},
		"a query fails":             {[]event{answered, {query: true, failed: true}}, 0, 0},
		"others may still try":      {[]event{refused, answered}, 11 * time.Second, time.Minute + 11*time.Second},
		"others have tried":         {[]event{refused, answered}, 13 * time.Second, 0},
		"others may still hang":     {[]event{hung, answered}, 40 * time.Second, time.Minute + 45*time.Second},
		"others have given up":      {[]event{hung, answered}, 43 * time.Second, 0},
		"the one before it did":     {[]event{hung, answered, refused, answered}, 13 * time.Second, 0},
		"held up, but was answered": {[]event{{took: 5 * time.Second}}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o outages
				for _, e := range c.events {
					over := o.call
					if e.query {
						over = o.query
					}
					time.Sleep(time.Minute)
					end := over()
					time.Sleep(e.took)
					end(e.failed)
				}
				time.Sleep(c.after)
				if got := o.away(pause); got != c.want {
					t.Errorf("away for %v, want %v", got, c.want)
				}
			})
		})
	}
}
