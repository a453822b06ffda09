package storetest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// model is the reference: the state of one job after a sequence of signals. Time is abstract: a lease is live or has
// expired, a wait is over or not.
type model struct {
	state     string // "" while the id is unknown
	placed    bool   // canceled before any message came
	attempts  int
	fence     int64 // of the newest holder
	held      bool  // a worker may write under fence
	expired   bool  // the holder's lease has expired
	waiting   bool  // a retry whose wait is not over
	asked     bool  // a cancel was requested
	consumed  []string
	letters   int
	webhooks  int
	ender     string // the message that found the last worker lost
	reported  int    // reported duplicates of this series
	notes     int    // events about duplicates
	committed int    // completions
	series    int
}

const modelMax = 3 // attempts
// RunModel drives one job through random sequences of everything that can happen to it, against the
// reference, and checks I2 to I9 after each step. -rapid.checks sets how many sequences.
func RunModel(t *testing.T, open Open) {
	b := newBench(t, open)
	rapid.Check(t, func(rt *rapid.T) {
		r := &modelRun{b: b, t: rt, message: message()}
		r.message.Worker = "worker-" + uuid.NewString() // of no other run, so that its jobs are lost alone
		r.message.MaxAttempts, r.message.Source.InsertedAt = modelMax, time.Time{}
		rt.Repeat(map[string]func(*rapid.T){
			"begin":    func(*rapid.T) { r.begin(r.message) },
			"unheard":  func(*rapid.T) { r.unheard() },
			"report":   func(*rapid.T) { r.report() },
			"force":    func(*rapid.T) { r.force() },
			"again":    func(*rapid.T) { r.again() },
			"conflict": func(*rapid.T) { r.conflict() },
			"expire":   func(rt *rapid.T) { r.beat(rt, 0) },
			"beat":     func(rt *rapid.T) { r.beat(rt, hour) },
			"complete": r.complete,
			"fail":     r.fail,
			"retry":    r.retry,
			"release":  r.release,
			"canceled": r.canceled,
			"cancel":   func(*rapid.T) { r.requestCancel() },
			"":         func(*rapid.T) { r.check() },
		})
		r.checkHistory()
	})
}

type modelRun struct {
	b       *bench
	t       *rapid.T
	m       model
	message store.Begin
	holders []store.Holder // past and present
}

func over(state string) bool { return state == "succeeded" || state == "failed" || state == "canceled" }

// end sets a terminal state.
func (m *model) end(state string) {
	m.state, m.held, m.waiting = state, false, false
	m.webhooks++
	if state == "failed" {
		m.letters++
	}
}

// decide is the reference of Begin for a message of the right fingerprint.
func (m *model) decide(again bool) store.Decision {
	switch {
	case m.state == "":
		return store.Run
	case m.placed:
		m.webhooks = 1 // to the URL of the first message
		return store.Dropped
	case over(m.state) && again && m.state != "canceled":
		m.series, m.attempts, m.asked, m.reported = m.series+1, 0, false, 0
		return store.Run
	case m.state == "canceled":
		return store.Dropped
	case over(m.state):
		return store.Done
	case m.state == "pending" && !m.asked:
		return store.Run
	case m.held && !m.expired:
		return store.Leased
	case m.asked:
		m.end("canceled")
		return store.Dropped
	case m.waiting:
		return store.Waiting
	case m.held && m.attempts == modelMax:
		m.end("failed")
		return store.Spent
	}
	return store.Run
}

// check compares the row with the model.
func (r *modelRun) check() {
	if r.m.state == "" {
		return
	}
	j, err := r.b.Job(r.b.ctx(), r.message.JobID)
	if err != nil || j.Status != r.m.state || j.Attempts != r.m.attempts || (j.CompletedAt != nil) != over(r.m.state) {
		r.t.Fatalf("row %+v, %v; model %+v", j, err, r.m)
	}
}

// checkHistory compares events (I8), dead letters (I6) and webhooks with the model.
func (r *modelRun) checkHistory() {
	if r.m.state == "" {
		return
	}
	events, err := r.b.Events(r.b.ctx(), r.message.JobID, 0, 1000)
	if err != nil {
		r.t.Fatal(err)
	}
	progress, ended, completed, notes := 0, false, 0, 0
	for i, e := range events {
		if e.Stage == "restarted" {
			progress, ended = 0, false
		}
		about := aboutDuplicate(e)
		if e.Seq != int64(i)+1 || e.Progress < progress || ended != about {
			r.t.Fatalf("I8: event %d: %+v after progress %d, ended %v", i+1, e, progress, ended)
		}
		if about {
			notes++
		}
		progress, ended = e.Progress, terminal(e.Stage) || ended
		if e.Stage == "completed" {
			completed++
		}
	}
	if ended != over(r.m.state) || completed != r.m.committed || completed > r.m.series+1 || notes != r.m.notes {
		r.t.Fatalf("I2, I8: %d completions, ended %v, %d duplicates; model %+v", completed, ended, notes, r.m)
	}
	letters, err := r.b.DeadLetters(r.b.ctx(), store.DeadLetterFilter{JobID: r.message.JobID, Limit: 100})
	if err != nil || len(letters) != r.m.letters {
		r.t.Fatalf("I6: %d dead letters, %v; model %+v", len(letters), err, r.m)
	}
	hooks, err := r.b.JobDeliveries(r.b.ctx(), r.message.JobID)
	if err != nil || len(hooks) != r.m.webhooks {
		r.t.Fatalf("%d webhooks, %v; model %+v", len(hooks), err, r.m)
	}
}
