package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAway: how long a worker was without its store, which decides whose jobs it leaves alone (I9).
func TestAway(t *testing.T) {
	const pause, s, m = 10 * time.Second, time.Second, time.Minute
	type call struct {
		at, took        time.Duration
		failed, refused bool
		query           bool // of cancel requests, which writes nothing
	}
	for name, c := range map[string]struct {
		calls    []call
		at, want time.Duration
	}{
		"no outage":            {[]call{{at: m}, {at: 2 * m}}, 2 * m, 0},
		"it lasts":             {[]call{{at: m}, {at: 2 * m, failed: true}, {at: 3 * m, failed: true}}, 4 * m, 2 * m},
		"it is over":           {[]call{{at: m, failed: true}, {at: 3 * m}}, 3 * m, 2 * m},
		"others may still try": {[]call{{at: m, failed: true}, {at: 3 * m}}, 3*m + 11*s, 2*m + 11*s},
		"others have tried":    {[]call{{at: m, failed: true}, {at: 3 * m}}, 3*m + 13*s, 0},
		"others may still hang": {
			[]call{{at: m, took: 5 * s, failed: true}, {at: 3 * m}}, 3*m + 41*s, 2*m + 41*s,
		},
		"others have given up": {[]call{{at: m, took: 5 * s, failed: true}, {at: 3 * m}}, 3*m + 43*s, 0},
		"only the one before hung": {
			[]call{{at: m, took: 5 * s, failed: true}, {at: 2 * m}, {at: 3 * m, failed: true}, {at: 4 * m}}, 4*m + 13*s, 0,
		},
		"held up, and answered": {[]call{{at: m, took: 5 * s}}, m + 5*s, 0},
		"queries are answered": {
			[]call{{at: m, failed: true}, {at: 2 * m, query: true}, {at: 3 * m, failed: true}, {at: 4 * m}}, 4 * m, 3 * m,
		},
		"a query fails": {[]call{{at: m}, {at: 2 * m, query: true, failed: true}}, 2 * m, 0},
		"commits are refused": {
			[]call{{at: m, failed: true}, {at: 2 * m, refused: true}, {at: 3 * m, failed: true}, {at: 4 * m}}, 4 * m, 3 * m,
		},
		"it refuses once more": {
			[]call{{at: m, failed: true}, {at: 3 * m}, {at: 3*m + 2*s, failed: true}, {at: 3*m + 4*s}}, 3*m + 5*s, 2*m + 5*s,
		},
		"a call of before fails late": {
			[]call{{at: m, failed: true}, {at: 3*m - s, took: 30 * s, failed: true}, {at: 3 * m}, {at: 3*m + 30*s}},
			3*m + 60*s, 2*m + 60*s,
		},
		"a call always fails": {
			[]call{
				{at: m, failed: true},
				{at: m + s},
				{at: 2 * m, failed: true},
				{at: 2*m + s},
				{at: 3 * m, failed: true},
				{at: 3*m + s},
			}, 3*m + s, s,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o outages
				for _, c := range c.calls {
					time.AfterFunc(c.at, func() {
						start := o.call
						if c.query {
							start = o.query
						}
						over := start()
						time.Sleep(c.took)
						over(c.failed, c.refused)
					})
				}
				time.Sleep(c.at + time.Nanosecond)
				if got := o.away(pause).Truncate(s); got != c.want {
					t.Errorf("away for %v, want %v", got, c.want)
				}
			})
		})
	}
}
