package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// maxDuplicates is how many duplicates a series reports.
const maxDuplicates = 20

// sentAgain returns another message of the same task, inserted after everything else that a test does.
func sentAgain(m store.Begin, edit ...func(*store.Begin)) store.Begin {
	m.Source = store.Source{Queue: "q", MessageID: uuid.NewString(), InsertedAt: time.Now().Add(hour)}
	for _, e := range edit {
		e(&m)
	}
	return m
}

// duplicate begins a message whose job has ended, and checks whether the store reports it as a duplicate.
func (b *bench) duplicate(what string, m store.Begin, reported bool, webhooks int) store.BeginAnswer {
	b.t.Helper()
	begun := b.begin(m, store.Done)
	if begun.Duplicate != reported || begun.Deliveries != webhooks {
		b.t.Errorf("%s: reported %v, %d webhooks; want %v, %d", what, begun.Duplicate, begun.Deliveries, reported,
			webhooks)
	}
	return begun
}

// failed returns a failed job whose end has sent no webhook.
func (b *bench) failed(edit ...func(*store.Begin)) (store.Begin, store.Settlement) {
	b.t.Helper()
	m, h := b.run(append(edit, noWebhook)...)
	return m, b.fail(h, m)
}

// testDuplicate: the store reports a message that was sent after its job failed, by an event and by a webhook to the
// message's URL. The job does not change.
func testDuplicate(t *testing.T, b *bench) {
	m, s := b.failed()
	before := b.job(m.JobID)
	loud := sentAgain(m, func(n *store.Begin) { n.WebhookURL = "https://example.com/again" })
	begun := b.duplicate("with a webhook_url", loud, true, 1)
	if begun.DeadLetter == nil || begun.DeadLetter.ID != s.DeadLetter.ID || begun.State != "failed" {
		t.Errorf("begun: %+v", begun)
	}
	b.duplicate("without a webhook_url", sentAgain(m), true, 0)

	events := b.history(m.JobID)
	if got := stages(events); !slices.Equal(got, []string{"started", "failed", "", ""}) {
		t.Fatalf("events: %v", got)
	}
	for _, e := range events[2:] {
		if !strings.Contains(e.Message, "hints.force") || !strings.Contains(e.Message, "new task_id") ||
			!strings.Contains(e.Message, "jobs retry "+m.JobID) {
			t.Errorf("the event says %q", e.Message)
		}
	}
	if !strings.Contains(string(events[2].Metadata), loud.Source.MessageID) {
		t.Errorf("the event's metadata is %s", events[2].Metadata)
	}
	after := b.job(m.JobID)
	before.UpdatedAt = after.UpdatedAt
	if after.Status != "failed" || after.Stage != before.Stage || after.Progress != before.Progress ||
		after.Attempts != before.Attempts ||
		after.ErrorMessage != before.ErrorMessage || !after.CompletedAt.Equal(*before.CompletedAt) {
		t.Errorf("I3: the row was %+v and is %+v", before, after)
	}
	b.wantLetters(m.JobID, 1)
	b.wantDeliveries(m.JobID, "task.rejected")
	hooks, err := b.JobDeliveries(b.ctx(), m.JobID)
	if err != nil || len(hooks) != 1 || hooks[0].URL != loud.WebhookURL {
		t.Errorf("the webhook goes to %+v, %v", hooks, err)
	}
}

// testDuplicateOnce: a redelivery of a message that ran, that ended the job, or that was reported is not reported.
func testDuplicateOnce(t *testing.T, b *bench) {
	hooked := func(n *store.Begin) { n.WebhookURL = "https://example.com/again" }
	m, _ := b.failed(func(m *store.Begin) { m.Source.InsertedAt = time.Now().Add(hour) })
	redelivered := m
	redelivered.WebhookURL = "https://example.com/again"
	b.duplicate("the message that ran", redelivered, false, 0)
	again := sentAgain(m, hooked)
	b.duplicate("another message", again, true, 1)
	for range 3 {
		b.duplicate("that one, redelivered", again, false, 0)
	}
	b.duplicate("the message that ran", redelivered, false, 0)
	if got := stages(b.history(m.JobID)); !slices.Equal(got, []string{"started", "failed", ""}) {
		t.Errorf("events: %v", got)
	}

	m, h := b.run(noWebhook, func(m *store.Begin) { m.MaxAttempts = 1 })
	b.loseWorker(h)
	last := sentAgain(m, hooked)
	b.begin(last, store.Spent) // this one ended the job
	b.duplicate("the message that found its worker lost", last, false, 0)

	m, _ = b.failed()
	again = sentAgain(m, hooked)
	reported := make([]bool, 8)
	var wg sync.WaitGroup
	for i := range reported {
		wg.Go(func() {
			if begun, err := b.Begin(b.ctx(), again); err != nil {
				t.Error(err)
			} else {
				reported[i] = begun.Duplicate
			}
		})
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(reported, func(t bool) bool { return !t })); n != 1 {
		t.Errorf("one message at several workers was reported %d times", n)
	}
	b.wantDeliveries(m.JobID, "task.rejected")
	b.history(m.JobID)
}

// testDuplicateSilent: the store does not report messages that were sent before the end, that have no id or time, or
// whose job did not fail.
func testDuplicateSilent(t *testing.T, b *bench) {
	hooked := func(n *store.Begin) { n.WebhookURL = "https://example.com/again" }
	m, _ := b.failed()
	for name, edit := range map[string]func(*store.Begin){
		"sent before the end":  func(n *store.Begin) { n.Source.InsertedAt = time.Now().Add(-hour) },
		"of an unknown time":   func(n *store.Begin) { n.Source.InsertedAt = time.Time{} },
		"without a message id": func(n *store.Begin) { n.Source.MessageID = "" },
	} {
		b.duplicate(name, sentAgain(m, hooked, edit), false, 0)
	}
	b.begin(sentAgain(m, hooked, func(n *store.Begin) { n.Fingerprint = "f2" }), store.Conflict)
	if got := stages(b.history(m.JobID)); !slices.Equal(got, []string{"started", "failed"}) {
		t.Errorf("events: %v", got)
	}
	// A queue knows the second in which a message was inserted.
	end := *b.job(m.JobID).CompletedAt
	b.duplicate("the same second", sentAgain(m,
		func(n *store.Begin) { n.Source.InsertedAt = end.Truncate(time.Second) }), false, 0)
	b.duplicate("the next second", sentAgain(m,
		func(n *store.Begin) { n.Source.InsertedAt = end.Truncate(time.Second).Add(time.Second) }), true, 0)

	m, h := b.run(noWebhook)
	b.complete(h)
	b.duplicate("succeeded", sentAgain(m, hooked), false, 0)
	b.wantDeliveries(m.JobID)
	b.history(m.JobID)

	m, h = b.run(noWebhook)
	if _, err := b.Canceled(b.ctx(), h, nil); err != nil {
		t.Fatal(err)
	}
	if begun := b.begin(sentAgain(m, hooked), store.Dropped); begun.Duplicate || begun.Deliveries != 0 {
		t.Errorf("canceled: %+v", begun)
	}
	b.wantDeliveries(m.JobID)
	b.history(m.JobID)
}

// testDuplicateFlood: a series reports a few of any number of duplicates, and still knows which messages ran.
func testDuplicateFlood(t *testing.T, b *bench) {
	m, _ := b.failed()
	hooked := func(n *store.Begin) { n.WebhookURL = "https://example.com/again" }
	forced := sentAgain(m, func(n *store.Begin) { n.Force = true })
	for series := range 2 {
		for i := range 3 * maxDuplicates {
			reported, webhooks := i < maxDuplicates, 0
			if reported {
				webhooks = 1
			}
			b.duplicate("one of many", sentAgain(m, hooked), reported, webhooks)
		}
		events := b.history(m.JobID)
		if want := (series + 1) * (2 + maxDuplicates); len(events) != want+series { // restarted
			t.Errorf("series %d: %d events", series+1, len(events))
		}
		if last := events[len(events)-1]; !strings.Contains(last.Message, "Further duplicates") {
			t.Errorf("the last event: %q", last.Message)
		}
		if series == 0 {
			h := holder(forced, b.begin(forced, store.Run))
			b.fail(h, forced)
		}
	}
	b.duplicate("I2: the forced message, redelivered", forced, false, 0)
	if j := b.job(m.JobID); j.Status != "failed" {
		t.Errorf("row: %+v", j)
	}
	hooks, err := b.JobDeliveries(b.ctx(), m.JobID)
	if err != nil || len(hooks) != 2*maxDuplicates {
		t.Errorf("%d webhooks, %v", len(hooks), err)
	}
}

// testDuplicateBody: the webhook has the former error's class, says that the message was dropped, and what to do.
func testDuplicateBody(t *testing.T, b *bench) {
	m, _ := b.failed()
	n := sentAgain(m, func(n *store.Begin) { n.WebhookURL, n.Worker = "https://example.com/again", "w4" })
	b.duplicate("sent again", n, true, 1)
	got := b.webhook(m.JobID)
	if got.Type != "task.rejected" || got.Status != "rejected" || got.TaskID != m.JobID || got.Error == nil {
		t.Fatalf("the webhook is %+v", got)
	}
	if e := got.Error; e.Code != "TASK_ALREADY_FAILED" || e.Class != "validation_error" ||
		e.Type != "ValidationError" || e.ErrorType != "validation" ||
		*e.RetryCount != 0 || *e.ProcessingMS != 0 || e.WorkerID != "w4" {
		t.Errorf("the error is %+v", e)
	}
	for _, part := range []string{badInput.Class, badInput.Code, "dropped", "hints.force", "new task_id"} {
		if !strings.Contains(got.Error.Message, part) {
			t.Errorf("the error does not contain %q: %q", part, got.Error.Message)
		}
	}
	if strings.Contains(got.Error.Message, badInput.Message) {
		t.Errorf("the error quotes the former one: %q", got.Error.Message)
	}
}

// aboutDuplicate reports whether an event is about a duplicate of a failed job: it has no stage, and its metadata name
// the message.
func aboutDuplicate(e store.JobEvent) bool {
	var about struct {
		ID string `json:"duplicate_message_id"`
	}
	return e.Stage == "" && json.Unmarshal(e.Metadata, &about) == nil && about.ID != ""
}

// report counts msg if it is a duplicate of a failed job that the store reports, and returns whether it is.
func (m *model) report(msg store.Begin) bool {
	id := msg.Source.MessageID
	if m.state != "failed" || msg.Source.InsertedAt.IsZero() || slices.Contains(m.consumed, id) || m.ender == id ||
		m.reported == maxDuplicates {
		return false
	}
	m.reported, m.notes, m.webhooks = m.reported+1, m.notes+1, m.webhooks+1
	m.consumed = append(m.consumed, id)
	return true
}

// again sends the task once more, without force.
func (r *modelRun) again() {
	msg := sentAgain(r.message)
	r.begin(msg)
	r.begin(msg) // redelivered at once
}

// testSameNumber: messages of two queues, or of a queue that was made again, may have one number: they are not one message.
func testSameNumber(t *testing.T, b *bench) {
	first := func(m *store.Begin) {
		m.Source = store.Source{Queue: "q", MessageID: "1", InsertedAt: time.Now().Add(hour)}
	}
	for name, other := range map[string]func(*store.Source){
		"of another queue":         func(s *store.Source) { s.Queue = "p" },
		"of the queue, made again": func(s *store.Source) { s.InsertedAt = s.InsertedAt.Add(hour) },
	} {
		m, h := b.run(first)
		b.complete(h)
		forced := m
		forced.Force, forced.ID = true, uuid.NewString()
		b.begin(forced, store.Done) // I2
		other(&forced.Source)
		begun, err := b.Begin(b.ctx(), forced)
		if err != nil || begun.Decision != store.Run {
			t.Errorf("a forced message %s: %s, %v", name, begun.Decision, err)
			continue
		}
		forced.ID = uuid.NewString()
		if again := b.begin(forced, store.Leased); !again.Ran {
			t.Errorf("%s: its redelivery is taken for another message", name)
		}
		b.complete(holder(forced, begun))
		b.begin(forced, store.Done) // I2
		forced.Source.InsertedAt = forced.Source.InsertedAt.Truncate(time.Millisecond)
		b.begin(forced, store.Done) // a copy of it, which was moved
	}

	recorded, h := b.run(func(m *store.Begin) {
		m.Source = store.Source{Queue: "q", MessageID: "outbox:j:1", InsertedAt: time.Now().Add(hour)}
	})
	b.complete(h)
	recorded.Force, recorded.ID = true, uuid.NewString()
	recorded.Source.InsertedAt = recorded.Source.InsertedAt.Add(time.Second)
	b.begin(recorded, store.Done) // a copy that a queue took with another clock

	m, _ := b.failed(first)
	b.duplicate("of another queue", sentAgain(m, func(n *store.Begin) { n.Source.Queue, n.Source.MessageID = "p", "1" }), true, 0)
}
