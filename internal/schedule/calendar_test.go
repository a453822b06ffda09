package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseCalendarRefuses(t *testing.T) {
	t.Parallel()
	for cron, want := range map[string]string{
		"":                      "empty",
		"* * * *":               "cron",
		"61 * * * *":            "61",
		"0 0 31 2 *":            "never fires",
		"@reboot":               "not a time",
		"CRON_TZ=UTC 0 0 * * *": "time_zone",
		"@every 10ms":           "cron",
		"0 0 * * * *":           "cron",
		"rm -rf; * * * *":       "cron",
		"@sometimes":            "cron",
	} {
		if _, err := ParseCalendar(cron, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", cron, err, want)
		}
	}
	// A zone that changes its clocks for ever has no last period in which to look.
	for _, cron := range []string{"0 0 31 2 *", "0 0 30 2 *", "*/5 * 31 4,6,9,11 *", "30 2 31 11 1-5"} {
		for _, zone := range []string{"UTC", "Asia/Kolkata", "Europe/Berlin", "America/Santiago", "Africa/Casablanca"} {
			if _, err := ParseCalendar(cron, zone); err == nil || !strings.Contains(err.Error(), "never fires") {
				t.Errorf("%q in %s: %v, want an error with %q", cron, zone, err, "never fires")
			}
		}
	}
	for _, zone := range []string{"Local", "Europe/Atlantis", "../etc/passwd", "+02:00"} {
		if _, err := ParseCalendar("@daily", zone); err == nil || !strings.Contains(err.Error(), "time_zone") {
			t.Errorf("zone %q: %v", zone, err)
		}
	}
}

// TestClocksAreChanged: a time of the day comes once, a distance as often as it passes.
func TestClocksAreChanged(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cron, zone, from string
		want             []string // in UTC
	}{
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", []string{
			"2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z",
		}},
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z", []string{
			"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z",
		}},
		{"0 9 13 * 5", "Europe/Berlin", "2026-04-01T00:00:00Z", []string{"2026-11-13T08:00:00Z", "2027-08-13T07:00:00Z"}},
		{"*/30 * * * *", "Europe/Berlin", "2026-10-25T00:15:00Z", []string{
			"2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z",
		}},
		{"0,30 1-3 * * *", "America/New_York", "2026-11-01T05:10:00Z", []string{ // 01:00 EDT was at 05:00
			"2026-11-01T05:30:00Z", "2026-11-01T07:00:00Z", "2026-11-01T07:30:00Z", "2026-11-01T08:00:00Z",
		}},
		{"15 0 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-04T13:15:00Z", "2026-04-05T13:45:00Z"}},
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}},
	} {
		c, err := ParseCalendar(test.cron, test.zone)
		if err != nil {
			t.Fatal(err)
		}
		from, err := time.Parse(time.RFC3339, test.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range c.Upcoming(from, len(test.want)) {
			got = append(got, at.Format(time.RFC3339))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s in %s:\n got %v\nwant %v", test.cron, test.zone, got, test.want)
		}
	}
}

// TestYearOfMinutes compares a year of each calendar with a walk over it in steps, in zones that change their
// clocks by an hour, by half of one, in the south, and at midnight.
func TestYearOfMinutes(t *testing.T) {
	t.Parallel()
	firings := 0
	for _, zone := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu",
	} {
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := wallClockOf(t, zone, begin, begin.AddDate(1, 0, 0))
		for _, cron := range []struct {
			text         string
			hour, minute int // -1: all
		}{{"30 2 * * *", 2, 30}, {"0 0 * * *", 0, 0}, {"15 1 * * *", 1, 15}, {"45 * * * *", -1, 45}} {
			c, err := ParseCalendar(cron.text, zone)
			if err != nil {
				t.Fatal(err)
			}
			var want []time.Time
			if cron.hour < 0 {
				want = clock.everyHour(cron.minute)
			} else {
				want = clock.everyDay(cron.hour, cron.minute)
			}
			var got []time.Time
			for at := c.Next(begin); at.Before(begin.AddDate(1, 0, 0)); at = c.Next(at) {
				got = append(got, at.UTC())
			}
			firings += len(got)
			if !slices.EqualFunc(got, want, time.Time.Equal) {
				t.Errorf("%s in %s: %d firings, a walk finds %d: %s", cron.text, zone, len(got), len(want), differ(got, want))
			}
		}
	}
	t.Logf("%d firings compared", firings)
}

// walkStep is that of the walk, in minutes: schedules and changes of clocks are at multiples of it.
const walkStep = 5

// wallClock is what the clock on the wall of a zone shows at each step from begin on.
type wallClock struct {
	begin time.Time
	days  []int // each a number of its own
	shown []int // minutes since 0:00
}

func wallClockOf(t *testing.T, zone string, begin, end time.Time) *wallClock {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	w := &wallClock{begin: begin}
	for at := begin; at.Before(end); at = at.Add(walkStep * time.Minute) {
		local := at.In(loc)
		hour, minute, _ := local.Clock()
		w.days = append(w.days, 1000*local.Year()+local.YearDay())
		w.shown = append(w.shown, 60*hour+minute)
	}
	return w
}

// everyHour are the instants at which the wall clock shows a minute.
func (w *wallClock) everyHour(minute int) (times []time.Time) {
	for i := 1; i < len(w.shown); i++ {
		if w.shown[i]%60 == minute {
			times = append(times, w.begin.Add(time.Duration(i)*walkStep*time.Minute))
		}
	}
	return times
}

// everyDay are the first instants of each day at which the wall clock shows a time, or has jumped over it: then as
// long after the jump as the time lies in the gap.
func (w *wallClock) everyDay(hour, minute int) (times []time.Time) {
	done, want := 0, hour*60+minute
	for i := 1; i < len(w.shown); i++ {
		day, have, previous := w.days[i], w.shown[i], w.shown[i-1]
		if day != w.days[i-1] {
			previous -= 24 * 60
		}
		at := w.begin.Add(time.Duration(i) * walkStep * time.Minute)
		switch {
		case day == done:
		case have == want:
			times, done = append(times, at), day
		case previous < want && want < have: // the clocks were put forward
			times, done = append(times, at.Add(time.Duration(want-previous-walkStep)*time.Minute)), day
		}
	}
	return times
}

func differ(got, want []time.Time) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return "lacks " + want[i].String()
		case i >= len(want):
			return "has " + got[i].String()
		case !got[i].Equal(want[i]):
			return got[i].String() + " and not " + want[i].String()
		}
	}
	return ""
}
