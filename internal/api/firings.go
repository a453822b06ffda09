package api

import (
	"time"

	"github.com/seed-7227ef26/async-worker/internal/schedule"
)

// Firing is a time of a schedule's calendar, and the id of the job that is submitted for it.
type Firing struct {
	At    time.Time
	JobID string
}

// LastFirings are the last n times at which a schedule fired, or should have, the newest first.
func LastFirings(s Schedule, n int) []Firing {
	if s.LastAt == nil {
		return nil
	}
	var all []Firing
	for _, at := range timesBefore(s, n) {
		id := schedule.JobID(s.ID, at)
		if at.Equal(*s.LastAt) && s.LastJobID != "" {
			id = s.LastJobID // another one, if somebody else had taken that
		}
		all = append(all, Firing{at, id})
	}
	return all
}

// timesBefore are the last times of a calendar up to LastAt. A calendar only goes forward: so it starts some of its steps
// before, and further back while those are too few.
func timesBefore(s Schedule, n int) []time.Time {
	calendar, err := schedule.ParseCalendar(s.Cron, s.TimeZone)
	if err != nil {
		return []time.Time{*s.LastAt}
	}
	next := calendar.Upcoming(*s.LastAt, 1)
	if len(next) == 0 {
		return []time.Time{*s.LastAt}
	}
	step := next[0].Sub(*s.LastAt)
	var past []time.Time
	for back := n; back <= 16*n && len(past) < n; back *= 4 {
		past = past[:0]
		for _, at := range calendar.From(s.LastAt.Add(-time.Duration(back)*step), 64*n) {
			if at.Before(s.CreatedAt.Truncate(time.Second)) {
				continue
			}
			if at.After(*s.LastAt) {
				break
			}
			past = append([]time.Time{at}, past...)
		}
	}
	return past[:min(n, len(past))]
}
