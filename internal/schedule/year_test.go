package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// yearly is one schedule of the simulated year.
type yearly struct {
	cron, zone string
	catchUp    int
	jitter     time.Duration
}

// year has a schedule for each zone that changes its clocks in its own way: not at all, by an hour in the north and in
// the south, by half an hour, and at midnight.
func year() []yearly {
	return []yearly{
		{"30 2 * * *", "Europe/Berlin", 0, 0},
		{"0 */6 * * *", "America/New_York", 3, 0},
		{"15 1 * * 1-5", "Australia/Lord_Howe", 1000, 0},
		{"0 0 * * *", "America/Santiago", 2, time.Hour},
		{"@every 7h", "UTC", 1, 10 * time.Minute},
		{"45 23 28-31 * *", "Pacific/Auckland", 1, 0},
	}
}

// world is the real store with a clock that the test moves, and calls that die before or after they were carried out.
type world struct {
	store.Store
	rnd *rand.Rand

	mu     sync.Mutex
	now    time.Time
	killed int
	mortal bool
	next   time.Time // nothing is due before, so the schedules are not read again
}

var errKilled = errors.New("killed")

// dies is called before and after each call of a worker.
func (w *world) dies() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mortal || w.rnd.IntN(6) > 0 {
		return nil
	}
	w.killed++
	return errKilled
}

func (w *world) DueSchedules(ctx context.Context, limit int) (store.DueSchedules, error) {
	due := store.DueSchedules{Now: w.now}
	w.mu.Lock()
	idle := w.now.Before(w.next)
	w.mu.Unlock()
	if idle {
		return due, w.dies()
	}
	all, err := w.Schedules(ctx, "", 1000)
	if err = errors.Join(err, w.dies()); err != nil {
		return store.DueSchedules{}, err
	}
	next := w.now.AddDate(1, 0, 0)
	for _, s := range all {
		switch {
		case s.FiresAt == nil || !s.FiresAt.After(w.now) || len(s.Owed) > 0:
			due.Due = append(due.Due, s)
		case s.FiresAt.Before(next):
			next = *s.FiresAt
		}
	}
	if len(due.Due) == 0 {
		w.mu.Lock()
		w.next = next
		w.mu.Unlock()
	}
	due.Due = due.Due[:min(limit, len(due.Due))]
	return due, nil
}

func (w *world) FireSchedule(ctx context.Context, f store.Firing) (store.Fired, error) {
	if err := w.dies(); err != nil {
		return store.Fired{}, err
	}
	fired, err := w.Store.FireSchedule(ctx, f)
	return fired, errors.Join(err, w.dies())
}

// Submission implements Submitter.
func (w *world) Submission(t task.Task) (store.Submission, error) {
	text, err := task.Encode(t)
	return store.Submission{Task: message.Record(t, 3), Queue: "q", Message: text}, err
}

// Send implements Submitter: the message is left to the sweep.
func (w *world) Send(context.Context, store.Submission) error { return w.dies() }

// expected is what becomes of a schedule, worked out without the code under test: in each step the firings since the
// one before are missed if they are too late by then.
type expected struct {
	yearly
	calendar Calendar
	id       string
	from     time.Time // up to where firings are accounted for
	fired    map[string]bool
	missed   int
}

func (e *expected) step(client string, now time.Time) {
	var missed []time.Time
	for at := e.calendar.Next(e.from); !at.Add(e.calendar.Jitter(client, e.id, at, e.jitter)).After(now); at = e.calendar.Next(at) {
		late := now.Sub(at.Add(e.calendar.Jitter(client, e.id, at, e.jitter)))
		if late <= 5*time.Minute { // all of these fire at most every six hours
			e.fired[JobID(e.id, at)] = true
		} else {
			missed = append(missed, at)
		}
		e.from = at
	}
	for len(missed) > e.catchUp {
		missed = missed[1:]
		e.missed++
	}
	for _, at := range missed {
		e.fired[JobID(e.id, at)] = true
	}
}

// TestYear: over a year of clock changes, outages and kills of three workers each firing is one job, none is lost, and
// what was missed is made up as far as it is asked for.
func TestYear(t *testing.T) {
	t.Parallel()
	const client = "c"
	s, err := postgres.Open(t.Context(), stacktest.PostgresWith(t, schema.Options{}), postgres.Options{ClientID: client})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seed := rand.Uint64()
	w := &world{Store: s, rnd: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	t.Logf("seed %d", seed)
	checker := Checker{ClientID: client, Check: func(task.Task) error { return nil }}
	var all []*expected
	for i, y := range year() {
		planned, err := checker.Plan(store.Schedule{
			ID: fmt.Sprintf("s%d", i), Cron: y.cron, TimeZone: y.zone, CatchUp: y.catchUp, Jitter: y.jitter,
			Overlap: store.OverlapAllow, Task: json.RawMessage(`{"task_type":"ingest","payload":{}}`),
		}, w.now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AddSchedule(t.Context(), planned); err != nil {
			t.Fatal(err)
		}
		calendar, err := ParseCalendar(y.cron, y.zone)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &expected{yearly: y, calendar: calendar, id: planned.ID, from: w.now, fired: map[string]bool{}})
	}
	end := w.now.AddDate(1, 0, 0)
	for steps := 0; w.now.Before(end); steps++ {
		w.now = w.now.Add(w.gap(steps))
		w.work(t, checker)
		for _, e := range all {
			e.step(client, w.now)
		}
	}
	w.compare(t, all)
}

// gap is the time to the next look: mostly up to five minutes around something that is due, sometimes an outage.
func (w *world) gap(step int) time.Duration {
	if step%40 == 39 {
		return time.Duration(w.rnd.Int64N(int64(12 * 24 * time.Hour)))
	}
	return time.Duration(w.rnd.Int64N(int64(3 * time.Hour)))
}

// work lets three workers look, each of which may die at any call, and then one that does not.
func (w *world) work(t *testing.T, c Checker) {
	t.Helper()
	w.mortal = true
	var workers sync.WaitGroup
	look := func() error {
		r := Runner{Checker: c, Store: w, Submit: w, Log: slog.New(slog.DiscardHandler)}
		_, err := r.Look(t.Context())
		return err
	}
	for range 3 {
		workers.Go(func() { _ = look() }) // it may have been killed
	}
	workers.Wait()
	w.mortal = false
	if err := look(); err != nil {
		t.Fatal(err)
	}
}

func (w *world) compare(t *testing.T, all []*expected) {
	t.Helper()
	firings := 0
	jobs := map[string]bool{}
	for cursor := (*store.JobCursor)(nil); ; {
		page, err := w.Jobs(t.Context(), store.JobFilter{Limit: 1000, After: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range page {
			jobs[j.ID] = true
		}
		if len(page) < 1000 {
			break
		}
		cursor = page[len(page)-1].Cursor()
	}
	for _, e := range all {
		s, err := w.Schedule(t.Context(), e.id)
		if err != nil {
			t.Fatal(err)
		}
		if s.Missed != int64(e.missed) || s.Fired != int64(len(e.fired)) || len(s.Owed) > 0 || s.Problem != "" {
			t.Errorf("%s in %s: %d fired and %d missed, want %d and %d; owed %v %s", e.cron, e.zone, s.Fired, s.Missed,
				len(e.fired), e.missed, s.Owed, s.Problem)
		}
		for _, id := range slices.Sorted(maps.Keys(e.fired)) {
			if !jobs[id] {
				t.Errorf("%s in %s: %s is lost", e.cron, e.zone, id)
			}
			delete(jobs, id)
		}
		firings += len(e.fired)
	}
	for id := range jobs {
		t.Errorf("%s should not have fired", id)
	}
	t.Logf("%d firings in %d zones, each one job; %d deaths of workers", firings, len(all), w.killed)
}
