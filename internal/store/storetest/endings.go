package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func testComplete(t *testing.T, b *bench) {
	m, h := b.run()
	s, err := b.Complete(b.ctx(), store.Completion{
		Holder: h, Result: json.RawMessage(`{"summary_id":"s1","processing_time_ms":12}`),
		Events: []store.Event{event("finalizing", 98)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.State != "succeeded" || s.Attempts != 1 || s.DeadLetter != nil || s.Deliveries != 1 {
		t.Errorf("settled: %+v", s)
	}
	var result map[string]any
	if err := json.Unmarshal(s.Result, &result); err != nil || result["summary_id"] != "s1" {
		t.Errorf("result %s: %v", s.Result, err)
	}
	j := b.job(m.JobID)
	if j.Status != "succeeded" || j.Progress != 100 || j.CompletedAt == nil ||
		!strings.Contains(string(j.Result), "s1") {
		t.Errorf("row: %+v", j)
	}
	if got := stages(b.history(m.JobID)); !slices.Equal(got, []string{"started", "finalizing", "completed"}) {
		t.Errorf("events: %v", got)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`{}`)}); !errors.Is(err,
		store.ErrFenced) {
		t.Errorf("I2: a second completion: %v", err)
	}
	b.wantDeliveries(m.JobID, "task.completed")
}

// testEffectAtomicity: an effect that raises undoes the completion and the effects before it.
func testEffectAtomicity(t *testing.T, b *bench) {
	m, h := b.run()
	staged, err := b.StageDocument(b.ctx(), staging(h, "atomic.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, staged, "one", "two")
	before := b.job(m.JobID)
	for name, bad := range map[string]store.Effect{
		"unknown":   {Kind: "no_such_effect"},
		"malformed": {Kind: "x'; drop table jobs; --"},
		"raising": {Kind: store.EffectActivateDocument, Args: store.Activation{
			DocumentID: uuid.NewString(),
			Version:    1,
		}},
	} {
		_, err := b.Complete(b.ctx(), store.Completion{
			Holder: h, Result: json.RawMessage(`{}`), Events: []store.Event{event("finalizing", 98)},
			Effects: []store.Effect{activate(staged, 2), bad},
		})
		if err == nil {
			t.Fatalf("%s effect: no error", name)
		}
	}
	if _, err := b.Complete(b.ctx(), store.Completion{Holder: h, Result: json.RawMessage(`[1]`)}); err == nil {
		t.Error("a result that is not an object: no error")
	}
	after := b.job(m.JobID)
	if after.Status != "running" || !after.UpdatedAt.Equal(before.UpdatedAt) || len(b.history(m.JobID)) != 1 {
		t.Errorf("the row after a refused completion: %+v", after)
	}
	b.wantDeliveries(m.JobID)
	b.wantFound("one", 0)
	b.complete(h, activate(staged, 2))
	b.wantFound("one", 1)
}

func testForce(t *testing.T, b *bench) {
	m, h := b.run()
	b.complete(h)
	forceAt := func(at time.Time, edit ...func(*store.Begin)) store.Begin {
		n := m
		n.Force, n.Source = true, store.Source{Queue: "q", MessageID: uuid.NewString(), InsertedAt: at}
		for _, e := range edit {
			e(&n)
		}
		return n
	}
	redelivered := m
	redelivered.Force = true
	b.begin(redelivered, store.Done)                    // I2: the message that did it
	b.begin(forceAt(time.Now().Add(-hour)), store.Done) // sent before the run began, which did the task
	b.begin(forceAt(time.Now().Add(hour), func(n *store.Begin) { n.Force = false }), store.Done)
	b.begin(forceAt(time.Now(), func(n *store.Begin) { n.Fingerprint = "f2" }), store.Conflict)

	forced := forceAt(time.Now().Add(hour))
	begun := b.begin(forced, store.Run)
	if begun.Attempt != 1 || begun.Fence <= h.Fence || begun.Progress != 0 {
		t.Errorf("forced: %+v", begun)
	}
	if j := b.job(m.JobID); j.Status != "running" || j.CompletedAt != nil {
		t.Errorf("row: %+v", j)
	}
	b.begin(forced, store.Leased)
	s := b.fail(holder(forced, begun), forced)
	if redelivered := b.begin(forced, store.Done); redelivered.DeadLetter == nil ||
		redelivered.DeadLetter.ID != s.DeadLetter.ID {
		t.Errorf("I2: a forced message redelivered: %+v", redelivered)
	}

	third := forceAt(time.Time{})
	b.complete(holder(third, b.begin(third, store.Run)))
	if j := b.job(m.JobID); j.Status != "succeeded" || j.ErrorClass != "" {
		t.Errorf("row after the third series: %+v", j)
	}
	b.wantLetters(m.JobID, 1)
	b.history(m.JobID)
	b.lateLetter(forced, s.DeadLetter.ID)

	m, h = b.run()
	if _, err := b.Canceled(b.ctx(), h, nil); err != nil {
		t.Fatal(err)
	}
	b.begin(forceAt(time.Now().Add(-hour)), store.Dropped) // sent before the cancel
}

// lateLetter: begin returns a dead letter of an earlier series until its copy is marked as sent (I6).
func (b *bench) lateLetter(m store.Begin, id string) {
	b.t.Helper()
	if late := b.begin(m, store.Done); late.DeadLetter == nil || late.DeadLetter.ID != id || late.DeadLetter.Sent {
		b.t.Errorf("I6: %+v, want dead letter %s", late.DeadLetter, id)
	}
	if err := b.DeadLetterSent(b.ctx(), id); err != nil {
		b.t.Fatal(err)
	}
	if late := b.begin(m, store.Done); late.DeadLetter != nil {
		b.t.Errorf("I6: %+v, whose copy was sent", late.DeadLetter)
	}
}

func testCancel(t *testing.T, b *bench) {
	m, h := b.run()
	staged, err := b.StageDocument(b.ctx(), staging(h, "canceled.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	b.stage(h, staged, "never seen")
	if _, err := b.RequestCancel(b.ctx(), m.JobID, "anna"); err != nil {
		t.Fatal(err)
	}
	beat, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour})
	if err != nil || !beat.Cancel {
		t.Fatalf("the heartbeat does not return the cancel request: %+v, %v", beat, err)
	}
	s, err := b.Canceled(b.ctx(), h, []store.Event{event("parsing", 30)})
	if err != nil || s.State != "canceled" || s.Deliveries != 1 {
		t.Fatalf("canceled: %+v, %v", s, err)
	}
	if _, err := b.Complete(b.ctx(), store.Completion{
		Holder: h, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{activate(staged, 1)},
	}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("I7: complete after cancel: %v", err)
	}
	if j := b.job(m.JobID); j.Status != "canceled" || j.Progress != 30 || !j.CancelAsked {
		t.Errorf("row: %+v", j)
	}
	b.wantDeliveries(m.JobID, "task.canceled")
	b.wantFound("never", 0)
	b.history(m.JobID)
	// The document had no version: it is gone, and version 1 is free.
	_, other := b.run()
	if again, err := b.StageDocument(b.ctx(), staging(other, "canceled.pdf")); err != nil ||
		again.DocumentID == staged.DocumentID || again.Version != 1 {
		t.Errorf("staging after cancel: %+v, %v", again, err)
	}
}

func testEvents(t *testing.T, b *bench) {
	m, h := b.run()
	parsing, chunking := event("parsing", 40), event("chunking", 50)
	late := event("parsing", 20) // progress of an earlier moment, flushed late
	late.Message, late.Metadata = "late", json.RawMessage(`{"page":7}`)
	for _, events := range [][]store.Event{{parsing, chunking}, {parsing, late, late}, nil, {event("", 45)}} {
		if _, err := b.Heartbeat(b.ctx(), store.Heartbeat{Holder: h, Lease: hour, Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	if j := b.job(m.JobID); j.Progress != 50 || j.Stage != "parsing" {
		t.Errorf("row: %+v", j)
	}
	b.complete(h)
	events := b.history(m.JobID)
	if got := stages(events); !slices.Equal(got,
		[]string{"started", "parsing", "chunking", "parsing", "", "completed"}) {
		t.Errorf("events: %v", got)
	}
	if e := events[3]; e.ID != late.ID || e.Message != "late" || e.Progress != 50 || e.Attempt != 1 ||
		!strings.Contains(string(e.Metadata), "7") ||
		e.At.Before(events[2].At) || e.At.After(events[4].At) { // see testClock
		t.Errorf("event: %+v", e)
	}
	tail, err := b.Events(b.ctx(), m.JobID, 4, 1)
	if err != nil || len(tail) != 1 || tail[0].Seq != 5 {
		t.Errorf("after 4, limit 1: %+v, %v", tail, err)
	}
}

// testCanceling: one call for many attempts returns those that have to stop, each under its own fence.
func testCanceling(t *testing.T, b *bench) {
	canceling := func(attempts ...store.Holder) []store.Holder {
		t.Helper()
		got, err := b.Canceling(b.ctx(), attempts)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := canceling(); len(got) != 0 {
		t.Errorf("of no attempts: %v", got)
	}
	_, first := b.run()
	m, second := b.run()
	_, third := b.run()
	unknown := store.Holder{JobID: "no-such-job", Fence: 1}
	if got := canceling(first, second, third, unknown); len(got) != 0 {
		t.Errorf("before any request: %v", got)
	}
	for _, h := range []store.Holder{second, third} {
		if _, err := b.RequestCancel(b.ctx(), h.JobID, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	stale := store.Holder{JobID: third.JobID, Fence: third.Fence - 1}
	if got := canceling(first, second, stale, unknown); !slices.Equal(got, []store.Holder{second}) {
		t.Errorf("got %v, want %v alone", got, second)
	}
	if got := canceling(second, third); len(got) != 2 {
		t.Errorf("two that have to stop: %v", got)
	}
	if _, err := b.Canceled(b.ctx(), second, nil); err != nil {
		t.Fatal(err)
	}
	// It runs again in another series: the request was for the one before.
	m.Force, m.Source.MessageID, m.Source.InsertedAt = true, "again", time.Now().Add(hour)
	if got := canceling(holder(m, b.begin(m, store.Run))); len(got) != 0 {
		t.Errorf("of another series: %v", got)
	}
}
