package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Only scans need OCR, which their type does not name. While it is down for half a day they wait without a run, their
// messages are not sent again, and other documents are done at once; afterwards all succeed, and the breaker is closed.
func TestReleasedForAServiceThatFewNeed(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		var runs atomic.Int64
		s.down.Store(true)
		w.probes = engine.Probes{taskerr.OCR: s.probe, taskerr.Model: func(context.Context) error { return nil }}
		texts := w.watchSends()
		w.startWith(needing(taskerr.Model, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if strings.HasPrefix(c.Task.ID, "text") {
				return done(ctx, c)
			}
			runs.Add(1)
			if err := s.use(c.Task.ID, time.Second); err != nil {
				return handlers.Outcome{}, &taskerr.Error{
					Class: taskerr.DependencyUnavailable, Dependency: taskerr.OCR, Cause: err,
				}
			}
			return done(ctx, c)
		}))
		const scans, hours = 3, 12
		for i := range scans {
			w.send(w.queues.Normal, message(fmt.Sprint("scan", i), ""))
		}
		for i := range hours {
			w.send(w.queues.Normal, message(fmt.Sprint("text", i), ""))
			w.settled(time.Hour)
			w.expectState(fmt.Sprint("text", i), job.Succeeded, 1)
		}
		if n := runs.Load(); n != scans {
			t.Errorf("%d runs of %d scans in the outage", n, scans)
		}
		if d := w.dependency(taskerr.OCR); !d.Down() {
			t.Errorf("the health says %+v", d)
		}
		if n := len(*texts); n != scans+hours {
			t.Errorf("%d messages of %d jobs", n, scans+hours)
		}
		s.down.Store(false)
		w.settled(2 * time.Minute)
		for i := range scans {
			w.expectState(fmt.Sprint("scan", i), job.Succeeded, 1)
		}
		if d := w.dependency(taskerr.OCR); d.Down() {
			t.Errorf("the health still says %+v", d)
		}
	})
}

// dependency is what the engine says of a dependency.
func (w *world) dependency(of taskerr.Dependency) engine.DependencyHealth {
	w.Helper()
	for _, d := range w.engine.Health().Dependencies {
		if d.Name == of {
			return d
		}
	}
	w.Fatalf("the health does not name %s", of)
	return engine.DependencyHealth{}
}
