package dashboard_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// hidden are the names and values of the hidden fields of a page's forms.
func hidden(a answer) (pairs []string) {
	for _, f := range hiddenField.FindAllStringSubmatch(a.text, -1) {
		pairs = append(pairs, f[1], f[2])
	}
	return pairs
}

// A form that is sent twice, by a double click, adds one schedule.
func TestScheduleFormSentTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	form := append(hidden(v.get("new-schedule")), "id", "", "cron", "@daily", "time_zone", "UTC", "overlap", "skip", "catch_up", "0",
		"task", `{"task_type":"ingest","payload":{"filename":"daily.pdf","document_set":"s"}}`)
	first := v.want(v.post("new-schedule", form...), http.StatusOK, "The schedule was added.")
	second := v.want(v.post("new-schedule", form...), http.StatusOK, "added already")
	if first.path != second.path {
		t.Errorf("the first is at %s, the second at %s", first.path, second.path)
	}
	all, err := b.store.Schedules(t.Context(), "", 10)
	if err != nil || len(all) != 1 {
		t.Errorf("%d schedules, %v; want 1", len(all), err)
	}
}

// A form that is sent twice replays a dead letter once, also one that was replayed before.
func TestReplayFormSentTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters("one")
	letters, err := b.store.DeadLetters(t.Context(), store.DeadLetterFilter{Limit: 10})
	if err != nil || len(letters) != 1 {
		t.Fatal(len(letters), err)
	}
	v := b.visit("operate")
	path := "dead-letters/" + letters[0].ID + "/replay"
	form := hidden(v.get(path))
	v.want(v.post(path, form...), http.StatusOK, "being replayed")
	v.want(v.post(path, form...), http.StatusConflict, "replayed already")
	form = append(hidden(v.want(v.get(path), http.StatusOK, "Replay it again")), "force", "1")
	v.want(v.post(path, form...), http.StatusOK, "being replayed")
	v.want(v.post(path, form...), http.StatusConflict, "replayed already")
	for id, want := range map[string]bool{"one.r1": true, "one.r2": true, "one.r3": false} {
		if _, err := b.store.Job(t.Context(), id); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %v", id, err, want)
		}
	}
}
