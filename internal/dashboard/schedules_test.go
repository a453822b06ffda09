package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestSchedules: a schedule is added, looked at, paused, resumed and removed; what is wrong with one is said beside what
// was written.
func TestSchedules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	task := `{"task_type":"ingest","payload":{"filename":"daily.pdf","document_set":"s"}}`
	fields := func(id, cron, zone, task, catchUp string) []string {
		return []string{"id", id, "cron", cron, "time_zone", zone, "task", task, "overlap", "skip", "catch_up", catchUp}
	}
	for name, tt := range map[string]struct {
		fields []string
		says   string
	}{
		"calendar":  {fields("a", "61 * * * *", "UTC", task, "0"), "61"},
		"zone":      {fields("a", "@daily", "Europe/Nowhere", task, "0"), "Europe/Nowhere"},
		"task":      {fields("a", "@daily", "UTC", `{"task_type":"ingest"`, "0"), "task"},
		"task type": {fields("a", "@daily", "UTC", `{"task_type":"nothing","payload":{}}`, "0"), "nothing"},
		"catch-up":  {fields("a", "@daily", "UTC", task, "many"), "0 to 1000"},
	} {
		a := v.post("new-schedule", tt.fields...)
		if a.status/100 != 4 || !strings.Contains(a.text, tt.says) ||
			!strings.Contains(a.text, "daily") && name != "calendar" {
			t.Errorf("%s: %d, want 4xx with %q", name, a.status, tt.says)
		}
	}
	v.want(v.post("new-schedule", fields("daily", "30 6 * * *", "Europe/Berlin", task, "2")...), http.StatusOK, "The schedule was added")
	v.want(v.post("new-schedule", fields("daily", "@hourly", "UTC", task, "0")...), http.StatusConflict, "daily")
	v.want(v.get("schedules"), http.StatusOK, "30 6 * * *")
	a := v.get("schedules/daily")
	v.want(a, http.StatusOK, "Europe/Berlin")
	if n := strings.Count(a.text, "<time datetime"); n < 5+2 { // the next firings, added, changed
		t.Errorf("%d times on the page of a schedule", n)
	}
	v.want(v.get("schedules/daily/pause"), http.StatusOK, "Pause this schedule?")
	v.want(v.post("schedules/daily/pause"), http.StatusOK, "The schedule is paused")
	v.want(v.get("schedules/daily"), http.StatusOK, "It is paused.")
	v.want(v.post("schedules/daily/resume"), http.StatusOK, "The schedule fires again")
	v.want(v.post("schedules/daily/remove"), http.StatusOK, "The schedule was removed")
	v.want(v.get("schedules/daily"), http.StatusNotFound)
	v.want(v.get("schedules/daily/explode"), http.StatusNotFound)
}

// TestLastFirings: the page of a schedule has its last times, also those of which there is no job.
func TestLastFirings(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.schedules("nightly-reports")
	a := b.visit("read").get("schedules/nightly-reports")
	for text, want := range map[string]int{"no job: skipped": 1, `class="pill s-succeeded"`: 3, `class="pill s-failed"`: 1} {
		if n := strings.Count(a.text, text); n != want {
			t.Errorf("%q %d times, want %d:\n%s", text, n, want, a.text)
		}
	}
}
