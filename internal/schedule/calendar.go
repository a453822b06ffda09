// Package schedule submits tasks at the times of a calendar. A schedule is a row of the database: whichever worker of
// the tenant sees first that one is due fires it, in one transaction that moves the row on and records the job. So a
// firing is one job, however many workers look and wherever they die.
package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// Calendar is when a schedule fires.
type Calendar struct {
	spec  cron.Schedule
	zone  *time.Location
	every time.Duration // from one firing to the next; zero: it has times of the clock
	fixed bool          // neither its minutes nor its hours begin with *: it means times of the day, not distances
}

// minEvery is the shortest distance of @every.
const minEvery = time.Second

// ParseCalendar reads a cron expression of five fields (minute, hour, day, month, weekday, with names, ranges,
// lists and steps), or @hourly, @daily, @weekly, @monthly, @yearly, @every 90m; in a time zone of the
// IANA database, UTC if it is empty. An expression that never fires is an error.
func ParseCalendar(expression, zone string) (Calendar, error) {
	expression = strings.TrimSpace(expression)
	switch {
	case expression == "":
		return Calendar{}, errors.New("cron is empty; five fields such as 30 6 * * 1-5, or @daily")
	case strings.Contains(expression, "TZ="):
		return Calendar{}, errors.New("cron has a time zone in it; name it in time_zone")
	case expression == "@reboot":
		return Calendar{}, errors.New("cron is @reboot, which is not a time")
	}
	loc, err := location(zone)
	if err != nil {
		return Calendar{}, err
	}
	spec, err := cron.StandardParser().WithMinEveryInterval(minEvery).Parse(expression)
	if err != nil {
		return Calendar{}, fmt.Errorf("cron %q: %w", expression, err)
	}
	c := Calendar{spec: spec, zone: loc}
	if strings.HasPrefix(expression, "@every") {
		c.every = spec.Next(time.Unix(0, 0)).Sub(time.Unix(0, 0))
	}
	if fields := strings.Fields(expression); len(fields) == 5 {
		c.fixed = !strings.HasPrefix(fields[0], "*") && !strings.HasPrefix(fields[1], "*")
	} else {
		c.fixed = expression != "@hourly"
	}
	if c.Next(time.Now()).IsZero() {
		return Calendar{}, fmt.Errorf("cron %q never fires: there is no such day", expression)
	}
	return c, nil
}

// location loads a time zone. Local is refused: it would be another one on another machine.
func location(zone string) (*time.Location, error) {
	if zone == "" {
		return time.UTC, nil
	}
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, fmt.Errorf("time_zone %q is not a time zone; for example Europe/Berlin or UTC", zone)
	}
	return loc, nil
}

// Next returns the first time after t; zero: there is none. A time of the day that the clocks pass twice, when they are
// put back, counts once. One that they leave out, when they are put forward, comes as much later as they were put
// forward.
func (c Calendar) Next(t time.Time) time.Time {
	if c.every > 0 {
		return c.spec.Next(t)
	}
	p := c.periodAt(t)
	for {
		next, found := c.nextIn(p, t)
		switch {
		case found && c.fixed && p.again(next):
			t = next
		case found || next.IsZero(): // none in the years in which the library looks: a zone's periods have no end
			return next
		default:
			t = p.end.Add(-time.Second)
			p = c.periodAt(p.end)
		}
	}
}

// period is a time in which the clocks of a zone are not changed. The library is asked within one, in UTC, since it
// leaves out days on which clocks are changed at midnight or by half an hour.
type period struct {
	begin, end    time.Time     // zero: none
	offset, since time.Duration // east of UTC, now and before begin
}

func (c Calendar) periodAt(t time.Time) (p period) {
	t = t.In(c.zone)
	p.begin, p.end = t.ZoneBounds()
	_, seconds := t.Zone()
	p.offset = time.Duration(seconds) * time.Second
	if p.since = p.offset; !p.begin.IsZero() {
		_, seconds = p.begin.Add(-time.Second).In(c.zone).Zone()
		p.since = time.Duration(seconds) * time.Second
	}
	return p
}

// again reports whether the wall clock showed the same before the clocks were put back.
func (p period) again(t time.Time) bool { return t.Sub(p.begin) < p.since-p.offset }

// nextIn is the first time after t, and whether it is in a period; zero: there is none in any.
func (c Calendar) nextIn(p period, t time.Time) (next time.Time, found bool) {
	next = c.onWall(t, p.offset)
	found = !next.IsZero() && (p.end.IsZero() || next.Before(p.end))
	if gap := p.begin.Add(p.offset - p.since); c.fixed && !p.begin.IsZero() && t.Before(gap) {
		if moved := c.onWall(t, p.since); moved.Before(gap) && !moved.IsZero() && !moved.Before(p.begin) &&
			(!found || moved.Before(next)) {
			return moved, true
		}
	}
	return next, found
}

// onWall is the first time after t of clocks that are this far from UTC.
func (c Calendar) onWall(t time.Time, offset time.Duration) time.Time {
	next := c.spec.Next(t.UTC().Add(offset))
	if next.IsZero() {
		return next
	}
	return next.Add(-offset)
}

// Upcoming returns the next n times after t.
func (c Calendar) Upcoming(t time.Time, n int) []time.Time {
	times := make([]time.Time, 0, n)
	for range n {
		if t = c.Next(t); t.IsZero() {
			break
		}
		times = append(times, t.UTC())
	}
	return times
}

// From returns the first n times from t on. @every counts from t.
func (c Calendar) From(t time.Time, n int) []time.Time {
	if c.every == 0 {
		return c.Upcoming(t.Add(-time.Second), n)
	}
	return append([]time.Time{t.UTC()}, c.Upcoming(t, n-1)...)
}

// NextFirings returns the next n firings of a schedule, of which next is the first; nil: no worker has worked it out yet.
func (c Calendar) NextFirings(next *time.Time, n int) []time.Time {
	if next == nil {
		return c.Upcoming(time.Now(), n)
	}
	return c.From(*next, n)
}
