package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testCourse: a task that asks for it has a webhook of its start, once, and of its progress, at most one in two seconds
// and no second one while the first waits. They are tried once, and none of progress follows the end.
func testCourse(t *testing.T, b *bench) {
	m, h := b.run(func(m *store.Begin) { m.WebhookEvents = []string{"progress", "started"} })
	started := b.claimAll(hour)
	if len(started) != 1 || !started[0].Once {
		t.Fatalf("at the start: %+v", started)
	}
	var body struct {
		Type, Status string
		TaskID       string `json:"task_id"`
		TaskType     string `json:"task_type"`
		ClientID     string `json:"client_id"`
		Attempt      int
		Stage        string
		Progress     int
		Pages        int `json:"pages_completed"`
		Timestamp    time.Time
	}
	read := func(d store.Delivery) {
		t.Helper()
		if err := json.Unmarshal([]byte(d.Body), &body); err != nil {
			t.Fatalf("%s: %v", d.Body, err)
		}
		if body.TaskID != m.JobID || body.TaskType != "ingest" || body.ClientID != b.client || body.Status != "running" ||
			body.Attempt != 1 || body.Timestamp.IsZero() {
			t.Errorf("body %s", d.Body)
		}
	}
	if read(started[0]); body.Type != "task.started" {
		t.Errorf("body %s", started[0].Body)
	}
	beat := func(e store.Event) int {
		t.Helper()
		answer, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour, Events: []store.Event{e}})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Deliveries
	}
	e := event("parsing", 20)
	e.Metadata = json.RawMessage(`{"pages_completed": 3, "total_pages": 9}`)
	if n := beat(e) + beat(event("parsing", 30)); n != 1 {
		t.Errorf("%d webhooks of progress at once", n)
	}
	if n := beat(e); n != 0 {
		t.Errorf("%d webhooks of an event that was there", n)
	}
	going := b.claimAll(hour)
	if len(going) != 1 || !going[0].Once {
		t.Fatalf("progress: %+v", going)
	}
	if read(going[0]); body.Type != "task.progress" || body.Stage != "parsing" || body.Progress != 20 || body.Pages != 3 {
		t.Errorf("body %s", going[0].Body)
	}
	b.complete(h)
	if rest := b.claimAll(hour); len(rest) != 1 || rest[0].Once || !strings.Contains(rest[0].Body, "task.completed") {
		t.Errorf("at the end: %+v", rest)
	}

	// Who does not ask gets none; nor does who names no URL.
	_, plain := b.run()
	_, without := b.run(func(m *store.Begin) { m.WebhookURL, m.WebhookEvents = "", []string{"started"} })
	for _, h := range []store.Holder{plain, without} {
		if answer, err := b.Heartbeat(b.ctx(), store.Heartbeat{
			Holder: h, Lease: hour, Events: []store.Event{event("parsing", 20)},
		}); err != nil || answer.Deliveries != 0 {
			t.Errorf("heartbeat: %+v, %v", answer, err)
		}
	}
	if rest := b.claimAll(hour); len(rest) > 0 {
		t.Errorf("webhooks that nobody asked for: %+v", rest)
	}

	// While its receiver is down, nobody waits to send one.
	b.hooks("https://down.example/")
	b.attempt(b.claimAll(hour)[0], hostDown)
	_, missed := b.run(func(m *store.Begin) { m.WebhookURL, m.WebhookEvents = "https://down.example/", []string{"started"} })
	if rest := b.claimAll(hour); len(rest) > 0 {
		t.Errorf("claimed while the receiver is down: %+v", rest)
	}
	if all, err := b.JobDeliveries(b.ctx(), missed.JobID); err != nil || len(all) != 1 ||
		all[0].Status != store.DeliveryFailed || all[0].Attempts != 0 {
		t.Errorf("deliveries %+v, %v", all, err)
	}

	// An attempt that follows is not a start; a report that waits when the task ends is not sent.
	m, h = b.run(func(m *store.Begin) { m.WebhookEvents = []string{"started", "progress"} })
	if _, err := b.Release(b.ctx(), store.Release{Holder: h}); err != nil {
		t.Fatal(err)
	}
	h = holder(m, b.begin(m, store.Run))
	if n := beat(event("parsing", 40)); n != 1 {
		t.Errorf("%d webhooks of progress", n)
	}
	b.fail(h, m)
	var kinds []string
	for _, d := range b.claimAll(hour) {
		if err := json.Unmarshal([]byte(d.Body), &body); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, body.Type)
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"task.failed", "task.started"}) {
		t.Errorf("webhooks %v", kinds)
	}
}
