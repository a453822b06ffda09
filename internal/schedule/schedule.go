package schedule

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// The bounds of a schedule.
const (
	MaxCatchUp = 1000
	MaxJitter  = time.Hour
	maxTask    = 32 << 10 // bytes of the message: a larger one names a blob
)

var name = pattern.New(`^[A-Za-z0-9_-]{1,64}$`)

// JobPrefix begins the ids of the jobs of firings.
const JobPrefix = "sched."

// JobID is the id of the job of a firing.
func JobID(schedule string, at time.Time) string {
	return fmt.Sprintf("%s%s.%d", JobPrefix, schedule, at.Unix())
}

// IsFiring reports whether an id may be that of a firing.
func IsFiring(id string) bool { return strings.HasPrefix(id, JobPrefix) }

// Checker checks schedules of one tenant.
type Checker struct {
	ClientID string
	// Check returns why a worker of this version refuses a task.
	Check func(task.Task) error
}

// Plan checks a schedule, fills in its defaults, and works out its next firing after now.
func (c Checker) Plan(s store.Schedule, now time.Time) (store.Schedule, error) {
	if !name.MatchString(s.ID) {
		return s, fmt.Errorf("id %q: 1 to 64 of A-Z a-z 0-9 _ -", s.ID)
	}
	if s.TimeZone == "" {
		s.TimeZone = "UTC"
	}
	if s.Overlap == "" {
		s.Overlap = store.OverlapSkip
	}
	switch {
	case s.Overlap != store.OverlapSkip && s.Overlap != store.OverlapAllow:
		return s, fmt.Errorf("overlap %q: skip or allow", s.Overlap)
	case s.CatchUp < 0 || s.CatchUp > MaxCatchUp:
		return s, fmt.Errorf("catch_up %d: 0 to %d", s.CatchUp, MaxCatchUp)
	case s.Jitter < 0 || s.Jitter > MaxJitter:
		return s, fmt.Errorf("jitter %v: 0 to %v", s.Jitter, MaxJitter)
	}
	calendar, err := ParseCalendar(s.Cron, s.TimeZone)
	if err != nil {
		return s, err
	}
	if _, err := c.TaskOf(s, now); err != nil {
		return s, err
	}
	s.NextAt, s.FiresAt = c.times(s, calendar, calendar.Next(now))
	return s, nil
}

// times are a firing's time of the calendar and the one at which it fires; nil for the zero time.
func (c Checker) times(s store.Schedule, of Calendar, next time.Time) (at, fires *time.Time) {
	if next.IsZero() {
		return nil, nil
	}
	next = next.UTC()
	return &next, new(next.Add(of.Jitter(c.ClientID, s.ID, next, s.Jitter)))
}

// TaskOf is the task of a firing.
func (c Checker) TaskOf(s store.Schedule, at time.Time) (task.Task, error) {
	if len(s.Task) > maxTask {
		return task.Task{}, fmt.Errorf("task: %d bytes, at most %d", len(s.Task), maxTask)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(s.Task, &fields); err != nil || fields == nil {
		return task.Task{}, errors.New("task is not a JSON object")
	}
	for _, member := range []string{"task_id", "run_at", "claim_check", "specversion"} {
		if _, ok := fields[member]; ok {
			return task.Task{}, fmt.Errorf("task.%s: the firing decides it; leave it out", member)
		}
	}
	id := JobID(s.ID, at)
	fields["task_id"], _ = json.Marshal(id) // a string can be encoded
	if _, ok := fields["requested_by"]; !ok {
		fields["requested_by"], _ = json.Marshal("schedule " + s.ID)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return task.Task{}, fmt.Errorf("task: %w", err)
	}
	decoded, err := task.Decode(string(text), task.Options{ClientID: c.ClientID})
	if err != nil {
		return task.Task{}, fmt.Errorf("task: %w", err)
	}
	if err := c.Check(decoded.Task); err != nil {
		return task.Task{}, fmt.Errorf("task: %w", err)
	}
	return decoded.Task, nil
}

// Change checks a change of a schedule. Where it changes when the schedule fires, or resumes it, its calendar begins
// after now.
func (c Checker) Change(was store.Schedule, change store.ScheduleChange, now time.Time) (store.ScheduleChange, error) {
	s := was
	change.Seen = was.UpdatedAt
	for _, set := range []struct{ to, from *string }{
		{&s.Cron, change.Cron}, {&s.TimeZone, change.TimeZone}, {&s.Overlap, change.Overlap},
	} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	if change.Task != nil {
		s.Task = change.Task
	}
	if change.CatchUp != nil {
		s.CatchUp = *change.CatchUp
	}
	if change.Jitter != nil {
		s.Jitter = *change.Jitter
	}
	if change.Paused != nil {
		s.Paused = *change.Paused
	}
	if s.Paused && change.Paused != nil && was.Problem != "" && change.Cron == nil && change.Task == nil {
		return change, nil // it can be paused although it can't fire
	}
	s, err := c.Plan(s, now)
	if err != nil {
		return change, err
	}
	if change.TimeZone != nil {
		change.TimeZone = &s.TimeZone
	}
	switch {
	case s.Cron != was.Cron || s.TimeZone != was.TimeZone || was.Paused && !s.Paused:
		change.NextAt, change.FiresAt = s.NextAt, s.FiresAt
	case s.Jitter != was.Jitter && was.NextAt != nil: // the firing that is next stays, even if its time has come
		calendar, err := ParseCalendar(s.Cron, s.TimeZone)
		if err != nil {
			return change, err
		}
		_, change.FiresAt = c.times(s, calendar, *was.NextAt)
	}
	return change, nil
}
