package dashboard_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
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

// Who sends a form after his session has ended keeps what he wrote: he signs in in another tab, and sends it again.
func TestFormOfAnEndedSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	form := append(hidden(v.get("ask")), "prompt", "How <b>fast</b>\nis it?", "set", "")
	v.post("logout")
	a := v.want(v.post("ask", form...), http.StatusUnauthorized, "You are signed out", `href="login" target="_blank"`, `action="ask"`)
	v.want(v.post("login", "token", b.tokens["operate"]), http.StatusOK)
	kept := hidden(a)
	for i, value := range kept {
		kept[i] = html.UnescapeString(value)
	}
	sent := v.want(v.post("ask", kept...), http.StatusOK, "How &lt;b&gt;fast")
	if !strings.Contains(sent.path, "/jobs/") {
		t.Errorf("it goes on at %s", sent.path)
	}
	// A large or odd form is not kept, and does no harm.
	other := b.visit("")
	a = other.want(other.post("ask", "prompt", strings.Repeat("x", 300<<10)), http.StatusUnauthorized, "You are signed out")
	if strings.Contains(a.text, "xxx") || strings.Contains(a.text, "<form") {
		t.Error("a form that is too large is on the page")
	}
	a = other.want(other.post("javascript:alert(1)", "a", "b"), http.StatusUnauthorized, "You are signed out")
	if strings.Contains(a.text, "<form") {
		t.Errorf("the form goes to %s", a.text)
	}
}

// A question that can't be taken is still in the form, which makes another question of it a job of its own.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	form := hidden(v.get("ask"))
	v.want(v.post("ask", append(form, "prompt", "Why?")...), http.StatusOK)
	a := v.want(v.post("ask", append(form, "prompt", "How?")...), http.StatusConflict, ">How?</textarea>", "with another question")
	sent := v.want(v.post("ask", append(hidden(a), "prompt", "How?")...), http.StatusOK)
	if !strings.Contains(sent.path, "/jobs/") {
		t.Errorf("it goes on at %s", sent.path)
	}
}
