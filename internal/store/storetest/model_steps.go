package storetest

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (r *modelRun) begin(msg store.Begin) {
	again := msg.Force && !slices.Contains(r.m.consumed, msg.Source.MessageID)
	reported := r.m.report(msg)
	want := r.m.decide(again)
	got, err := r.b.Begin(r.b.ctx(), msg)
	if err != nil || got.Decision != want || got.Duplicate != reported ||
		(got.Deliveries == 1) != (reported || want == store.Spent) {
		r.t.Fatalf("begin: %+v, %v; want %s, reported %v (%+v)", got, err, want, reported, r.m)
	}
	if want == store.Spent {
		r.m.ender = msg.Source.MessageID
	}
	if want != store.Run {
		return
	}
	if got.Fence <= r.m.fence {
		r.t.Fatalf("I4: fence %d after %d", got.Fence, r.m.fence)
	}
	r.m.state, r.m.fence, r.m.held, r.m.expired, r.m.waiting = "running", got.Fence, true, false, false
	r.m.attempts++
	r.m.consumed = append(r.m.consumed, msg.Source.MessageID)
	if got.Attempt != r.m.attempts || got.Attempt > modelMax {
		r.t.Fatalf("I6: attempt %d, want %d of %d", got.Attempt, r.m.attempts, modelMax)
	}
	r.holders = append(r.holders, store.Holder{JobID: msg.JobID, Fence: got.Fence})
}

// unheard begins the job again as its worker does after an unanswered begin.
func (r *modelRun) unheard() {
	msg := r.message
	msg.Unanswered = []string{msg.ID}
	if r.m.held && !r.m.asked {
		r.m.attempts-- // I9
		r.m.held = false
	} else if r.m.asked {
		r.m.expired = true // the worker does not wait for it
	}
	r.begin(msg)
}

// report reports an unanswered begin.
func (r *modelRun) report() {
	want := 0
	if r.m.held {
		r.m.state, r.m.held, want = "pending", false, 1
		r.m.attempts-- // I9
	}
	got, err := r.b.ReleaseUnanswered(r.b.ctx(),
		[]store.UnansweredBegins{{JobID: r.message.JobID, IDs: []string{r.message.ID}}})
	if err != nil || got != want {
		r.t.Fatalf("I9: the report of a begin gave back %d jobs, %v; want %d (%+v)", got, err, want, r.m)
	}
}

func (r *modelRun) force() {
	msg := r.message
	msg.Force, msg.Source.MessageID = true, uuid.NewString()
	r.begin(msg)
	r.begin(msg) // redelivered at once
}

func (r *modelRun) conflict() {
	if r.m.state == "" || r.m.placed {
		return
	}
	msg := r.message
	msg.Fingerprint = "other"
	if got, err := r.b.Begin(r.b.ctx(), msg); err != nil || got.Decision != store.Conflict {
		r.t.Fatalf("I5: %+v, %v", got, err)
	}
}

// write lets a past or present holder try to write. It reports whether the holder was the present one and wrote.
func (r *modelRun) write(rt *rapid.T, what string, do func(store.Holder) error) bool {
	if len(r.holders) == 0 {
		return false
	}
	h := rapid.SampledFrom(r.holders).Draw(rt, "holder")
	err := do(h)
	if may := r.m.held && h.Fence == r.m.fence; !may {
		if !errors.Is(err, store.ErrFenced) {
			r.t.Fatalf("I4: %s under fence %d: %v (%+v)", what, h.Fence, err, r.m)
		}
		return false
	}
	if err != nil {
		r.t.Fatalf("%s by the holder: %v (%+v)", what, err, r.m)
	}
	return true
}

func (r *modelRun) events(rt *rapid.T) []store.Event {
	var events []store.Event
	for _, p := range rapid.SliceOfN(rapid.IntRange(0, 99), 0, 3).Draw(rt, "progress") {
		events = append(events, event("parsing", p))
	}
	return events
}

func (r *modelRun) beat(rt *rapid.T, lease time.Duration) {
	var answer store.HeartbeatAnswer
	events := r.events(rt)
	if r.write(rt, "heartbeat", func(h store.Holder) (err error) {
		answer, err = r.b.Heartbeat(r.b.ctx(), store.Heartbeat{Holder: h, Lease: lease, Events: events})
		return err
	}) {
		r.m.expired = lease == 0
		if answer.Cancel != r.m.asked {
			r.t.Fatalf("heartbeat: %+v, want %v", answer, r.m.asked)
		}
	}
}

func (r *modelRun) complete(rt *rapid.T) {
	if r.write(rt, "complete", func(h store.Holder) error {
		_, err := r.b.Complete(r.b.ctx(), store.Completion{
			Holder: h, Result: json.RawMessage(`{}`), Events: r.events(rt),
		})
		return err
	}) {
		r.m.end("succeeded")
		r.m.committed++
	}
}

func (r *modelRun) fail(rt *rapid.T) {
	if r.write(rt, "fail", func(h store.Holder) error {
		_, err := r.b.Fail(r.b.ctx(), failure(h, r.message))
		return err
	}) {
		r.m.end("failed")
	}
}

func (r *modelRun) retry(rt *rapid.T) {
	if r.m.held && r.m.attempts == modelMax {
		return // the engine fails it instead
	}
	after := rapid.SampledFrom([]time.Duration{0, hour}).Draw(rt, "after")
	if r.write(rt, "retry", func(h store.Holder) error {
		_, err := r.b.Retry(r.b.ctx(), store.Retry{Holder: h, Error: badInput, After: after})
		return err
	}) {
		if r.m.asked {
			r.m.end("canceled")
			return
		}
		r.m.held, r.m.waiting = false, after > 0
	}
}

func (r *modelRun) release(rt *rapid.T) {
	if r.write(rt, "release", func(h store.Holder) error {
		_, err := r.b.Release(r.b.ctx(),
			store.Release{Holder: h})
		return err
	}) {
		if r.m.asked {
			r.m.end("canceled")
			return
		}
		r.m.state, r.m.held = "pending", false
		r.m.attempts-- // I9
	}
}

func (r *modelRun) canceled(rt *rapid.T) {
	if r.write(rt, "canceled", func(h store.Holder) error { _, err := r.b.Canceled(r.b.ctx(), h, nil); return err }) {
		r.m.end("canceled")
	}
}

func (r *modelRun) requestCancel() {
	_, err := r.b.RequestCancel(r.b.ctx(), r.message.JobID, "model")
	if over(r.m.state) {
		if !errors.Is(err, store.ErrTerminal) {
			r.t.Fatalf("I3: cancel of an ended job: %v", err)
		}
		return
	}
	if err != nil {
		r.t.Fatalf("cancel: %v", err)
	}
	switch {
	case r.m.state == "":
		r.m.state, r.m.placed = "canceled", true
	case r.m.state == "pending", !r.m.held, r.m.expired:
		r.m.end("canceled")
	default:
		r.m.asked = true
	}
}
