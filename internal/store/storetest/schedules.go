package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// schedule adds a schedule whose next firing is not worked out, unless s says so.
func (b *bench) schedule(s store.Schedule) store.Schedule {
	b.t.Helper()
	s.ID, s.Cron, s.TimeZone = uuid.NewString(), "@daily", "UTC"
	s.Task = json.RawMessage(`{"task_type":"ingest","payload":{"filename":"f"}}`)
	if s.Overlap == "" {
		s.Overlap = store.OverlapSkip
	}
	made, err := b.AddSchedule(b.ctx(), s)
	if err != nil {
		b.t.Fatalf("add a schedule: %v", err)
	}
	return made
}

// firing is that of a schedule, with a job of its own, after which it is due in a day.
func firing(s store.Schedule, at time.Time) store.Firing {
	job := once().Submission
	job.JobID = "sched." + s.ID + "." + at.Format("150405")
	next := at.AddDate(0, 0, 1)
	return store.Firing{Seen: s, NextAt: &next, FiresAt: &next, At: at, Job: &job}
}

func (b *bench) fire(f store.Firing) store.Fired {
	b.t.Helper()
	fired, err := b.FireSchedule(b.ctx(), f)
	if err != nil {
		b.t.Fatalf("fire: %v", err)
	}
	return fired
}

func (b *bench) seen(id string) store.Schedule {
	b.t.Helper()
	s, err := b.Schedule(b.ctx(), id)
	if err != nil {
		b.t.Fatalf("schedule %s: %v", id, err)
	}
	return s
}

// testSchedules: they are added once, listed by name, changed member by member, and removed.
func testSchedules(t *testing.T, b *bench) {
	at := time.Now().Add(hour).UTC().Truncate(time.Second)
	s := b.schedule(store.Schedule{NextAt: &at, FiresAt: &at, CatchUp: 2, Jitter: 3 * time.Second})
	if s.NextAt == nil || !s.NextAt.Equal(at) || s.CatchUp != 2 || s.Jitter != 3*time.Second || s.Paused || s.Status != "" {
		t.Errorf("added: %+v", s)
	}
	if _, err := b.AddSchedule(b.ctx(), s); !errors.Is(err, store.ErrScheduleExists) {
		t.Errorf("added twice: %v", err)
	}
	past := time.Now().Add(-hour)
	if s := b.schedule(store.Schedule{NextAt: &past, FiresAt: &past}); s.NextAt != nil {
		t.Errorf("a time that is past is worked out again: %v", s.NextAt)
	}
	changed, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{ID: s.ID, Paused: new(true), Cron: new("@weekly")})
	if err != nil || !changed.Paused || changed.Cron != "@weekly" || changed.CatchUp != 2 || !changed.NextAt.Equal(at) {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	listed, err := b.Schedules(b.ctx(), "", 10)
	if err != nil || len(listed) != 2 || listed[0].ID > listed[1].ID {
		t.Errorf("listed: %+v, %v", listed, err)
	}
	if rest, err := b.Schedules(b.ctx(), listed[0].ID, 10); err != nil || len(rest) != 1 || rest[0].ID != listed[1].ID {
		t.Errorf("after the first: %+v, %v", rest, err)
	}
	if err := b.RemoveSchedule(b.ctx(), s.ID); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"remove": b.RemoveSchedule(b.ctx(), s.ID),
		"change": func() error { _, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{ID: s.ID}); return err }(),
		"get":    func() error { _, err := b.Schedule(b.ctx(), s.ID); return err }(),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s one that is gone: %v", what, err)
		}
	}
}

// testConcurrentChanges: two changes that were decided on the same schedule leave no time of a calendar that is none of
// the two: a worker works it out.
func testConcurrentChanges(t *testing.T, b *bench) {
	at := time.Now().Add(hour).UTC().Truncate(time.Second)
	other := at.Add(hour)
	for name, second := range map[string]store.ScheduleChange{
		"a jitter, by the calendar that was": {Jitter: new(time.Minute), NextAt: &at, FiresAt: &at},
		"the calendar that was":              {Cron: new("@daily")},
		"a zone":                             {TimeZone: new("Europe/Berlin"), NextAt: &at, FiresAt: &at},
	} {
		s := b.schedule(store.Schedule{NextAt: &at, FiresAt: &at})
		first := store.ScheduleChange{ID: s.ID, Seen: s.UpdatedAt, Cron: new("@weekly"), NextAt: &other, FiresAt: &other}
		changed, err := b.ChangeSchedule(b.ctx(), first)
		if err != nil || changed.NextAt == nil || !changed.NextAt.Equal(other) {
			t.Fatalf("%s: the first change: %+v, %v", name, changed, err)
		}
		second.ID, second.Seen = s.ID, s.UpdatedAt
		if changed, err = b.ChangeSchedule(b.ctx(), second); err != nil || changed.NextAt != nil || changed.FiresAt != nil {
			t.Errorf("%s: %+v, %v", name, changed, err)
		}
	}
	s := b.schedule(store.Schedule{NextAt: &at, FiresAt: &at})
	if _, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{ID: s.ID, Seen: s.UpdatedAt, CatchUp: new(3)}); err != nil {
		t.Fatal(err)
	}
	late, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{ID: s.ID, Seen: s.UpdatedAt, Overlap: new(store.OverlapAllow)})
	if err != nil || late.NextAt == nil || !late.NextAt.Equal(at) || late.CatchUp != 3 || late.Overlap != store.OverlapAllow {
		t.Errorf("changes that are not of the calendar: %+v, %v", late, err)
	}
}

// testFiring: a schedule fires once, whoever else has seen that it is due; what it moves to and the job are one
// transaction.
func testFiring(t *testing.T, b *bench) {
	at := time.Now().UTC().Truncate(time.Second)
	s := b.schedule(store.Schedule{})
	due, err := b.DueSchedules(b.ctx(), 10)
	if err != nil || len(due.Due) != 1 || due.Due[0].ID != s.ID || time.Since(due.Now).Abs() > hour {
		t.Fatalf("due: %+v, %v", due, err)
	}
	f := firing(due.Due[0], at)
	if fired := b.fire(f); !fired.Moved || !fired.Created {
		t.Fatalf("fired: %+v", fired)
	}
	if fired := b.fire(f); fired.Moved || fired.Created {
		t.Errorf("fired by another worker, too: %+v", fired)
	}
	j, err := b.Job(b.ctx(), f.Job.JobID)
	if err != nil || j.Status != "pending" {
		t.Errorf("its job: %+v, %v", j, err)
	}
	now := b.seen(s.ID)
	if now.LastJobID != f.Job.JobID || now.Status != "pending" || now.Fired != 1 || !now.NextAt.Equal(*f.NextAt) ||
		!now.LastAt.Equal(at) {
		t.Errorf("after it: %+v", now)
	}
	if due, err = b.DueSchedules(b.ctx(), 10); err != nil || len(due.Due) != 0 || due.Next <= 0 {
		t.Errorf("due after it: %+v, %v", due, err)
	}
	// Its job is there already: removed, and added again.
	if err := b.RemoveSchedule(b.ctx(), s.ID); err != nil {
		t.Fatal(err)
	}
	s.NextAt, s.FiresAt = nil, nil
	again, err := b.AddSchedule(b.ctx(), s)
	if err != nil {
		t.Fatal(err)
	}
	f.Seen = again
	f.Job.Fingerprint = "another"
	if fired := b.fire(f); !fired.Moved || fired.Created || fired.Skipped {
		t.Errorf("a firing whose job is there: %+v", fired)
	}
}

// testTakenFiring: a job that somebody else has sent under the id of a firing does not keep the schedule from firing.
func testTakenFiring(t *testing.T, b *bench) {
	at := time.Now().UTC().Truncate(time.Second)
	s := b.schedule(store.Schedule{})
	for name, change := range map[string]func(f *store.Firing){
		"sent before it was due": func(f *store.Firing) { f.At = at.AddDate(0, 0, 2) },
		"with another payload":   func(f *store.Firing) { f.Job.Payload = json.RawMessage(`{"filename":"another"}`) },
		"of another type":        func(f *store.Firing) { f.Job.Type = "summarize" },
	} {
		f := firing(b.seen(s.ID), at)
		f.Job.JobID += "." + uuid.NewString()
		if _, err := b.Submit(b.ctx(), *f.Job); err != nil {
			t.Fatal(err)
		}
		change(&f)
		if fired := b.fire(f); fired.Moved || fired.Created || !fired.Taken {
			t.Errorf("%s: %+v", name, fired)
		}
		f.Job.JobID += ".again"
		f.Seen.LastJobID = ""
		if fired := b.fire(f); !fired.Moved || fired.Taken || !fired.Created {
			t.Errorf("%s, under another id: %+v", name, fired)
		}
		if _, err := b.RequestCancel(b.ctx(), f.Job.JobID, "me"); err != nil { // it is over: the next one may fire
			t.Fatal(err)
		}
	}
}

// testChangedFiring: what a worker has seen before the schedule was changed does not fire.
func testChangedFiring(t *testing.T, b *bench) {
	at := time.Now().UTC().Truncate(time.Second)
	f := firing(b.schedule(store.Schedule{}), at)
	if _, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{
		ID: f.Seen.ID, Task: json.RawMessage(`{"task_type":"ingest","payload":{"filename":"new"}}`),
	}); err != nil {
		t.Fatal(err)
	}
	if fired := b.fire(f); fired.Moved || fired.Created {
		t.Errorf("the task as it was before fires: %+v", fired)
	}
	f.Seen = b.seen(f.Seen.ID)
	if fired := b.fire(f); !fired.Created {
		t.Errorf("as it is now: %+v", fired)
	}
}

// testOverlap: while its last job is not over, a firing is skipped, and one that is made up waits; or it fires, where
// that is allowed.
func testOverlap(t *testing.T, b *bench) {
	at := time.Now().UTC().Truncate(time.Second)
	s := b.schedule(store.Schedule{})
	first := firing(s, at)
	first.Owed = []time.Time{at.Add(-2 * hour), at.Add(-hour)}
	first.Missed = 4
	b.fire(first)
	if now := b.seen(s.ID); now.Missed != 4 || !slices.EqualFunc(now.Owed, first.Owed, time.Time.Equal) {
		t.Errorf("missed: %+v", now)
	}
	if due, err := b.DueSchedules(b.ctx(), 10); err != nil || len(due.Due) != 0 || !due.Waiting {
		t.Errorf("due while it waits: %+v, %v", due, err)
	}
	seen := b.seen(s.ID)
	soon := seen.NextAt.Add(time.Second)
	changed, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{
		ID: s.ID, Seen: seen.UpdatedAt, Jitter: new(time.Minute), FiresAt: &soon,
	})
	if err != nil || len(changed.Owed) != 2 || !changed.NextAt.Equal(*seen.NextAt) || !changed.FiresAt.Equal(soon) {
		t.Errorf("another jitter: %+v, %v", changed, err)
	}
	before := seen.NextAt.Add(-hour) // the firing for which it was worked out is over
	changed, err = b.ChangeSchedule(b.ctx(), store.ScheduleChange{ID: s.ID, FiresAt: &before})
	if err != nil || !changed.FiresAt.Equal(soon) {
		t.Errorf("the jitter of an earlier firing: %+v, %v", changed, err)
	}
	if _, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{ID: s.ID, FiresAt: seen.FiresAt}); err != nil {
		t.Fatal(err)
	}
	late := firing(b.seen(s.ID), first.Owed[0])
	late.NextAt, late.FiresAt, late.Owed, late.Late = late.Seen.NextAt, late.Seen.FiresAt, first.Owed[1:], true
	if fired := b.fire(late); fired.Moved || fired.Created || len(b.seen(s.ID).Owed) != 2 {
		t.Errorf("made up beside its last job: %+v", fired)
	}
	onTime := firing(b.seen(s.ID), at.Add(time.Minute))
	onTime.Owed = onTime.Seen.Owed
	if fired := b.fire(onTime); !fired.Moved || fired.Created || !fired.Skipped || b.seen(s.ID).Skipped != 1 {
		t.Errorf("beside its last job: %+v", fired)
	}
	if _, err := b.RequestCancel(b.ctx(), first.Job.JobID, "me"); err != nil {
		t.Fatal(err)
	}
	due, err := b.DueSchedules(b.ctx(), 10)
	if err != nil || len(due.Due) != 1 {
		t.Fatalf("due once its last job is over: %+v, %v", due, err)
	}
	late.Seen = due.Due[0]
	late.NextAt, late.FiresAt = late.Seen.NextAt, late.Seen.FiresAt
	if fired := b.fire(late); !fired.Created || len(b.seen(s.ID).Owed) != 1 {
		t.Errorf("made up: %+v", fired)
	}
	allowed := b.schedule(store.Schedule{Overlap: store.OverlapAllow})
	b.fire(firing(allowed, at))
	if fired := b.fire(firing(b.seen(allowed.ID), at.Add(time.Minute))); !fired.Created {
		t.Errorf("beside its last job, as it may: %+v", fired)
	}
	owing := firing(b.seen(allowed.ID), at.Add(2*time.Minute))
	owing.Owed = first.Owed
	b.fire(owing)
	made := firing(b.seen(allowed.ID), first.Owed[0])
	made.NextAt, made.FiresAt, made.Owed, made.Late = made.Seen.NextAt, made.Seen.FiresAt, first.Owed[1:], true
	if fired := b.fire(made); !fired.Created {
		t.Errorf("made up beside its last job, as it may: %+v", fired)
	}
	if fired := b.fire(made); fired.Moved {
		t.Errorf("made up by another worker, too: %+v", fired)
	}
}

// testStoppedSchedule: one that is paused does not fire, and owes nothing when it goes on.
func testStoppedSchedule(t *testing.T, b *bench) {
	at := time.Now().UTC().Truncate(time.Second)
	s := b.schedule(store.Schedule{})
	owing := firing(s, at)
	owing.Owed = []time.Time{at.Add(-hour)}
	b.fire(owing)
	stale := b.seen(s.ID)
	stale.UpdatedAt = stale.UpdatedAt.Add(-time.Second)
	if err := b.StopSchedule(b.ctx(), stale, "too late"); err != nil || b.seen(s.ID).Paused {
		t.Errorf("stopped although somebody has mended it: %v", err)
	}
	if err := b.StopSchedule(b.ctx(), b.seen(s.ID), "no such type"); err != nil {
		t.Fatal(err)
	}
	stopped := b.seen(s.ID)
	if !stopped.Paused || stopped.Problem != "no such type" {
		t.Errorf("stopped: %+v", stopped)
	}
	if due, err := b.DueSchedules(b.ctx(), 10); err != nil || len(due.Due) != 0 || due.Waiting || due.Next != 0 {
		t.Errorf("due: %+v, %v", due, err)
	}
	if fired := b.fire(firing(stopped, at.Add(time.Minute))); fired.Moved {
		t.Error("a paused schedule fires")
	}
	next := at.Add(hour)
	gone, err := b.ChangeSchedule(b.ctx(), store.ScheduleChange{
		ID: s.ID, Paused: new(false), NextAt: &next, FiresAt: &next,
	})
	if err != nil || gone.Paused || gone.Problem != "" || len(gone.Owed) != 0 || !gone.NextAt.Equal(next) {
		t.Errorf("resumed: %+v, %v", gone, err)
	}
}
