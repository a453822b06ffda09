package simulation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// judgeOutcome compares the end of an attempt with how its handler ended: the engine's decision, implemented
// independently.
func (b *book) judgeOutcome(m move) {
	r := b.handled[store.Holder{JobID: m.id, Fence: m.fence}]
	if r == nil {
		if m.op == "release" && b.unanswered[store.Holder{JobID: m.id, Fence: m.fence}] {
			return // released, since the answer to its begin was lost
		}
		if b.oldest(m.id) >= waitMax && (m.op == "release" && !m.after.WaitingFrom.IsZero() || m.op == "fail" &&
			taskerr.Class(m.after.Error.Class) == taskerr.WaitExceeded) {
			return // its message has reached the longest wait: from now on the row records how long it waits
		}
		b.w.violated(m.id, "%s of an attempt that no handler was called for", m.op)
		return
	}
	if !r.over || (!r.endedAt.IsZero() && r.returnedAt.Sub(r.endedAt) >= time.Minute) { // abandoned
		r.cause = context.Cause(r.ctx)
		r.err = r.cause
	}
	failure, _ := errors.AsType[*taskerr.Error](r.err)
	_, waits := errors.AsType[*store.BusyError](r.err)
	retryable := failure != nil && taskerr.Classes[failure.Class].Retryable
	ours := r.cause != nil && !errors.Is(r.cause, engine.ErrTimeout) // not the task's fault
	good := true
	// An attempt that begins in vain each time, or can't be committed while others are, is counted or ends (I11).
	inVain := b.uncommitted[store.Holder{JobID: m.id, Fence: m.fence}] >= 3 || m.before.Releases >= 2
	switch m.op {
	case "complete":
		good = r.err == nil
	case "retry":
		good = (retryable && !ours || inVain) && m.before.Attempts < m.before.MaxAttempts
	case "fail":
		good = r.err == nil || inVain || (!ours && !waits &&
			(!retryable || errors.Is(r.cause, engine.ErrTimeout) || m.before.Attempts >= m.before.MaxAttempts))
	case "release":
		good = r.err != nil || r.refused
	case "canceled":
		good = r.err != nil && m.before.Cancel
	}
	if !good || (!r.over && r.cause == nil) {
		b.w.violated(m.id, "I9: %s of attempt %d of %d, whose handler ended (%v) with %v (%v)", m.op, m.before.Attempts,
			m.before.MaxAttempts, r.over, r.err, r.cause)
	}
}

// judgeStory checks new events against the ones before.
func (b *book) judgeStory(m move) {
	n := len(m.before.Events)
	if len(m.after.Events) < n {
		b.w.violated(m.id, "I8: %d events after %s, %d before, in state %s", len(m.after.Events), m.op, n,
			m.before.State)
		return
	}
	if m.was && m.before.State.Terminal() && m.after.Series == m.before.Series {
		b.judgeDuplicate(m)
		return
	}
	progress := m.before.Progress
	for i, e := range m.after.Events[n:] {
		if e.Stage == "restarted" {
			progress = 0
		}
		last := slices.Contains([]string{"completed", "failed", "canceled"}, e.Stage)
		if e.Seq != int64(n+i)+1 || e.Progress < progress ||
			last != (m.after.State.Terminal() && n+i+1 == len(m.after.Events)) {
			b.w.violated(m.id, "I8: event %d is %d, %s at %d%% after %d%%; the job is %s", n+i+1, e.Seq, e.Stage,
				e.Progress, progress, m.after.State)
		}
		progress = e.Progress
	}
}

// judgeEnd is for a move that ended a job.
func (b *book) judgeEnd(m move) {
	if !m.after.State.Terminal() || (m.was && m.before.State.Terminal()) || m.op == "reject" || m.after.Placed {
		return
	}
	hooks := 0
	if m.after.WebhookURL != "" {
		hooks = 1
	}
	if n := len(m.after.Outbox) - len(m.before.Outbox); n != hooks {
		b.w.violated(m.id, "%s put %d webhooks into the outbox, want %d", m.op, n, hooks)
	}
	if m.op == "begin" {
		b.answered[m.begin.Source.MessageID] = true
	}
	b.w.tally.add(&b.w.tally.ended, string(m.after.State))
}

// judgeLetters: when a job fails or a message is rejected, there is exactly one dead letter (I6).
func (b *book) judgeLetters(m move) {
	want := 0
	switch {
	case m.message != "":
		if m.err == nil && !b.rejected[m.message] {
			want, b.rejected[m.message] = 1, true
			b.w.tally.add(&b.w.tally.ended, "rejected")
		}
	case m.after.State == job.Failed && m.before.State != job.Failed:
		want = 1
	}
	if m.letters != want {
		b.w.violated(m.id, "I6: %s made %d dead letters, want %d", m.op, m.letters, want)
	}
}
