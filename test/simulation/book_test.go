package simulation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
)

// book records all jobs independently of the store. It is guarded by the world's mutex.
type book struct {
	w          *world
	accepted   map[string]bool           // jobs that were recorded by a submission
	sent       []sent                    // messages of tasks
	handled    map[store.Holder]*handled // results of handlers
	effects    map[string][]effect       // committed, by job
	commits    map[series]int
	reopened   map[string]bool       // messages that started another series
	left       map[string]time.Time  // when a job left a terminal state
	rejected   map[string]bool       // messages
	removed    map[string]bool       // messages
	lost       map[string]bool       // jobs a message of which the queue lost
	letters    int                   // dead letters in the store
	asked      map[string]bool       // jobs whose cancel was requested
	forced     map[string]int        // messages with hints.force
	unanswered map[store.Holder]bool // attempts whose worker got no answer to the begin
	answered   map[string]bool       // messages that ran, ended their job or were reported
	duplicates map[series]int        // duplicates
	// uncommitted is how often the commit of an attempt failed, as its worker sees it.
	uncommitted map[store.Holder]int
}

type series struct {
	id string
	n  int
}

// handled is how a handler ended, and why its context had ended by then; nil: it had not.
type handled struct {
	ctx                 context.Context
	over                bool
	refused             bool // its commit was: another job took its staged work while its lease had expired
	err, cause          error
	endedAt, returnedAt time.Time // when its context ended, and when it returned
}

// effect is what a handler wants to be committed.
type effect struct {
	fence int64
	n     int // of the payload
}

func newBook(w *world) *book {
	return &book{
		w: w, accepted: map[string]bool{}, handled: map[store.Holder]*handled{}, effects: map[string][]effect{},
		commits:  map[series]int{},
		reopened: map[string]bool{}, left: map[string]time.Time{}, rejected: map[string]bool{},
		removed: map[string]bool{}, asked: map[string]bool{}, lost: map[string]bool{}, forced: map[string]int{},
		answered: map[string]bool{}, duplicates: map[series]int{},
		unanswered: map[store.Holder]bool{}, uncommitted: map[store.Holder]int{},
	}
}

// releaseUnanswered is a move's op: a report of unanswered begins.
const releaseUnanswered = "release unanswered"

// move is one call of the store about one job.
type move struct {
	line    *line
	op, id  string
	fence   int64        // of the calling holder; 0: not a holder's call
	begin   *store.Begin // of a begin
	begins  []string     // of a report of unanswered begins
	message string       // of a rejection

	was, is       bool // whether there is a row before, and after
	before, after memory.Row
	letters       int // new dead letters
	err           error
}

// watch makes a call of the store and checks its result.
func watch[T any](ctx context.Context, w *world, m move, call func(context.Context) (T, error)) (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m.before, m.was = w.store.Row(m.id)
	answer, err := call(ctx)
	m.after, m.is = w.store.Row(m.id)
	m.err = err
	if m.op == "begin" || m.op == "fail" || m.op == "reject" {
		n := len(w.store.DeadLetters())
		m.letters, w.book.letters = n-w.book.letters, n
	}
	w.book.judge(m)
	return answer, err
}

func held(r memory.Row) bool { return r.State == job.Running && !r.LeaseEnds.IsZero() }

// judge checks one move against I2 to I9.
func (b *book) judge(m move) {
	if m.message != "" || m.op == "fail" || m.op == "begin" {
		b.judgeLetters(m)
	}
	if !m.is {
		return
	}
	if m.after.Fence != m.before.Fence {
		b.judgeRun(m)
	} else if m.is && m.was {
		b.judgeStay(m)
	}
	if r := b.handled[store.Holder{JobID: m.id, Fence: m.fence}]; r != nil && m.op == "complete" &&
		errors.Is(m.err, store.ErrFenced) {
		r.refused = true
	}
	if m.fence > 0 && m.err == nil {
		if !held(m.before) || m.before.Fence != m.fence {
			b.w.violated(m.id, "I4: %s under fence %d was accepted; the job is %s under %d", m.op, m.fence,
				m.before.State, m.before.Fence)
		}
		if m.op != "heartbeat" {
			b.judgeOutcome(m)
		}
	}
	if m.was && !legal(m) {
		b.w.violated(m.id, "I3: %s moved %s to %s", m.op, m.before.State, m.after.State)
	}
	if m.was && !m.before.Placed && m.after.Fingerprint != m.before.Fingerprint {
		b.w.violated(m.id, "I5: %s changed the job's task", m.op)
	}
	if m.after.Attempts > m.after.MaxAttempts && !m.after.Placed {
		b.w.violated(m.id, "I6: %d attempts of %d", m.after.Attempts, m.after.MaxAttempts)
	}
	b.judgeStory(m)
	b.judgeEnd(m)
}

// legal reports whether job.Transitions has the move: one that opens another series for a message that forces it,
// any other within its series.
func legal(m move) bool {
	was, is := m.before.State, m.after.State
	again := m.after.Series != m.before.Series
	if again && (m.op != "begin" || !m.begin.Force || m.after.Series != m.before.Series+1) {
		return false
	}
	return was == is && !again || slices.ContainsFunc(job.Transitions, func(t job.Transition) bool {
		return t.From == was && t.To == is && t.NewSeries() == again
	})
}

// spared reports whether a move did not count the loss of a worker, as other jobs were lost with it: five times at most.
func spared(m move) bool {
	lost := len(m.after.Lost)
	return lost > len(m.before.Lost) && lost <= 5 && m.after.LostFence == m.before.Fence
}

// judgeRun is for a move that began an attempt.
func (b *book) judgeRun(m move) {
	now, was := time.Now(), m.before
	again := m.was && m.after.Series != was.Series
	attempts := was.Attempts + 1
	if again || !m.was {
		attempts = 1
	} else if b.orphaned(m) || spared(m) {
		attempts = was.Attempts // I9
	}
	switch {
	case m.op != "begin":
		b.w.violated(m.id, "I4: %s changed the fence", m.op)
	case m.after.Fence != was.Fence+1 || m.after.Attempts != attempts || m.after.State != job.Running:
		b.w.violated(m.id, "I4, I6: a run under fence %d after %d, attempt %d after %d, %s", m.after.Fence, was.Fence,
			m.after.Attempts, was.Attempts, m.after.State)
	case held(was) && now.Before(was.LeaseEnds) && !b.orphaned(m):
		b.w.violated(m.id, "I4: begun while %s holds it for %v", was.Worker, was.LeaseEnds.Sub(now))
	case m.was && (was.Placed || was.Fingerprint != m.begin.Fingerprint):
		b.w.violated(m.id, "I5: another payload began under the job's id")
	case was.State.Terminal() && !again:
		b.w.violated(m.id, "I3: begun in state %s", was.State)
	case was.Cancel && !again:
		b.w.violated(m.id, "I7: begun after a cancel")
	case was.State == job.Running && !held(was) && now.Before(was.NotBefore):
		b.w.violated(m.id, "begun %v before its wait had ended", was.NotBefore.Sub(now))
	case again && b.reopened[m.begin.Source.MessageID]:
		b.w.violated(m.id, "I2: a forced message began two series")
	case held(was) && b.healthy(was.Worker):
		b.w.violated(m.id, "I9: %s, which met no fault, lost attempt %d", was.Worker, was.Attempts)
	}
	b.answered[m.begin.Source.MessageID] = true
	if again {
		b.reopened[m.begin.Source.MessageID] = true
		b.left[m.id] = now
	}
}

// orphaned reports that the attempt which a begin or a report ends was never made: its own begin got no answer.
func (b *book) orphaned(m move) bool {
	reported := m.begins
	if m.op == "begin" {
		reported = m.begin.Unanswered
	}
	return held(m.before) && slices.Contains(reported, m.before.ID) &&
		b.handled[store.Holder{JobID: m.id, Fence: m.before.Fence}] == nil
}

// healthy reports that a worker met no fault that would excuse the loss of an attempt.
func (b *book) healthy(worker string) bool {
	l := b.w.lines[worker]
	return l != nil && !l.metFault()
}

// judgeStay is for a move that began nothing.
func (b *book) judgeStay(m move) {
	attempts := m.before.Attempts
	released := m.op == "release" && m.after.State != job.Canceled || m.op == releaseUnanswered && b.orphaned(m)
	if released && m.err == nil {
		attempts-- // I9; a job that is to be canceled ends instead
	}
	if m.after.Attempts != attempts {
		b.w.violated(m.id, "I9: %d attempts after %s, %d before", m.after.Attempts, m.op, m.before.Attempts)
	}
	if m.op == "release" && m.err == nil && m.before.Cancel != (m.after.State == job.Canceled) {
		b.w.violated(m.id, "I7: released as %s; a cancel was requested: %t", m.after.State, m.before.Cancel)
	}
	if n := m.after.Commits - m.before.Commits; n != 0 {
		s := series{m.id, m.after.Series}
		b.commits[s] += n
		if m.op != "complete" || m.err != nil || b.commits[s] != 1 {
			b.w.violated(m.id, "I2: %s made %d commits, %d in series %d", m.op, n, b.commits[s], s.n)
		}
	}
	if m.op == "begin" && m.before.State == job.Running && m.after.State == job.Failed &&
		(time.Now().Before(m.before.LeaseEnds) || m.before.Attempts < m.before.MaxAttempts ||
			b.healthy(m.before.Worker)) {
		b.w.violated(m.id, "I9: given up as lost by %s in attempt %d of %d", m.before.Worker, m.before.Attempts,
			m.before.MaxAttempts)
	}
}

// oldest is the age of the first message of a job.
func (b *book) oldest(id string) (age time.Duration) {
	for _, s := range b.sent {
		if b.w.means(s.text).task.ID == id {
			age = max(age, time.Since(s.at))
		}
	}
	return age
}
