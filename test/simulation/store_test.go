package simulation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// wiredStore is the store at the end of a line. It embeds nothing: a method that is added to store.Jobs can't
// bypass the faults.
type wiredStore struct{ l *line }

// jobs is the store itself; its calls are made with the world's mutex held.
func (s wiredStore) jobs() store.Jobs { return s.l.w.jobs }

// checked makes a call about one job, and checks its result.
func checked[T any](
	ctx context.Context, s wiredStore, op, id string, fence int64, call func(context.Context) (T, error),
) (T, error) {
	return carry(ctx, s.l, onStore, op, id, func(ctx context.Context, m *faultyCall) (T, error) {
		if s.l.crashed(op, id) {
			var none T
			return none, down(m)
		}
		return watch(ctx, s.l.w, move{line: s.l, op: op, id: id, fence: fence}, call)
	})
}

func (s wiredStore) Submit(ctx context.Context, m store.Submission) (store.SubmitAnswer, error) {
	return checked(ctx, s, "submit", m.JobID, 0, func(ctx context.Context) (store.SubmitAnswer, error) {
		answer, err := s.jobs().Submit(ctx, m)
		if answer.Created {
			s.l.w.book.accepted[m.JobID] = true
		}
		return answer, err
	})
}

func (s wiredStore) MarkSent(ctx context.Context, id, message string) error {
	_, err := checked(ctx, s, "mark sent", id, 0,
		func(ctx context.Context) (nothing, error) { return nothing{}, s.jobs().MarkSent(ctx, id, message) })
	return err
}

func (s wiredStore) Sweep(ctx context.Context, o store.SweepAges, n int) (store.SweepAnswer, error) {
	return checked(ctx, s, "sweep", "", 0, func(ctx context.Context) (
		store.SweepAnswer, error,
	) {
		return s.jobs().Sweep(ctx, o, n)
	})
}

func (s wiredStore) Resend(ctx context.Context, r store.Resend) (bool, error) {
	return checked(ctx, s, "resend", r.JobID, 0,
		func(ctx context.Context) (bool, error) { return s.jobs().Resend(ctx, r) })
}

func (s wiredStore) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	var began store.Holder
	answer, err := carry(ctx, s.l, onStore, "begin", b.JobID,
		func(ctx context.Context, m *faultyCall) (store.BeginAnswer, error) {
			if s.l.crashed("begin", b.JobID) {
				return store.BeginAnswer{}, down(m)
			}
			return watch(ctx, s.l.w, move{line: s.l, op: "begin", id: b.JobID, begin: &b},
				func(ctx context.Context) (store.BeginAnswer, error) {
					answer, err := s.jobs().Begin(ctx, b)
					if err == nil && answer.Decision == store.Run {
						began = store.Holder{JobID: b.JobID, Fence: answer.Fence}
					}
					return answer, err
				})
		})
	if err != nil || answer.Decision != store.Run {
		s.l.w.mu.Lock()
		defer s.l.w.mu.Unlock()
		s.l.w.book.unanswered[began] = true
	}
	return answer, err
}

func (s wiredStore) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	return checked(ctx, s, "heartbeat", b.JobID, b.Fence,
		func(ctx context.Context) (store.HeartbeatAnswer, error) { return s.jobs().Heartbeat(ctx, b) })
}

func (s wiredStore) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	settled, err := checked(ctx, s, "complete", c.JobID, c.Fence,
		func(ctx context.Context) (store.Settlement, error) { return s.jobs().Complete(ctx, c) })
	if err != nil {
		s.l.w.mu.Lock()
		defer s.l.w.mu.Unlock()
		s.l.w.book.uncommitted[c.Holder]++
	}
	return settled, err
}

// crashed reports whether a task keeps the store down, and takes it down when such a task is committed.
func (l *line) crashed(op, id string) bool {
	w := l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	var p work
	if r, ok := w.store.Row(id); ok && op == "complete" {
		_ = json.Unmarshal(r.Payload, &p)
	}
	if p.Sort == heavy && !time.Now().Before(w.storeDown) {
		w.storeDown = time.Now().Add(time.Duration(1+p.N%20) * time.Second)
	}
	if !time.Now().Before(w.storeDown) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faulted = true
	return true
}

func (s wiredStore) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	return checked(ctx, s, "fail", f.JobID, f.Fence,
		func(ctx context.Context) (store.Settlement, error) { return s.jobs().Fail(ctx, f) })
}

func (s wiredStore) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	return checked(ctx, s, "retry", r.JobID, r.Fence,
		func(ctx context.Context) (store.Settlement, error) { return s.jobs().Retry(ctx, r) })
}

func (s wiredStore) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	return checked(ctx, s, "release", r.JobID, r.Fence,
		func(ctx context.Context) (store.Settlement, error) { return s.jobs().Release(ctx, r) })
}

func (s wiredStore) Canceled(ctx context.Context, h store.Holder, events []store.Event) (store.Settlement, error) {
	return checked(ctx, s, "canceled", h.JobID, h.Fence,
		func(ctx context.Context) (store.Settlement, error) { return s.jobs().Canceled(ctx, h, events) })
}

func (s wiredStore) Reject(ctx context.Context, r store.Rejection) (store.Settlement, error) {
	return carry(ctx, s.l, onStore, "reject", r.Source.MessageID,
		func(ctx context.Context, _ *faultyCall) (store.Settlement, error) {
			return watch(ctx, s.l.w, move{
				line: s.l, op: "reject", id: r.JobID, message: r.Source.Queue + "/" + r.Source.MessageID,
			}, func(ctx context.Context) (store.Settlement, error) {
				return s.jobs().Reject(ctx, r)
			})
		})
}

func (s wiredStore) RequestCancel(ctx context.Context, id, by string) (store.Job, error) {
	return checked(ctx, s, "request cancel", id, 0,
		func(ctx context.Context) (store.Job, error) { return s.jobs().RequestCancel(ctx, id, by) })
}

func (s wiredStore) DeadLetterSent(ctx context.Context, id string) error {
	_, err := checked(ctx, s, "dead letter sent", "", 0,
		func(ctx context.Context) (nothing, error) { return nothing{}, s.jobs().DeadLetterSent(ctx, id) })
	return err
}

func (s wiredStore) ReleaseUnanswered(ctx context.Context, begins []store.UnansweredBegins) (int, error) {
	return carry(ctx, s.l, onStore, releaseUnanswered, "", func(ctx context.Context, m *faultyCall) (int, error) {
		if s.l.crashed(releaseUnanswered, "") {
			return 0, down(m)
		}
		released := 0
		for _, one := range begins { // the book judges a job at a time
			n, err := watch(ctx, s.l.w, move{line: s.l, op: releaseUnanswered, id: one.JobID, begins: one.IDs},
				func(ctx context.Context) (int, error) {
					return s.jobs().ReleaseUnanswered(ctx, []store.UnansweredBegins{one})
				})
			if err != nil {
				return released, err
			}
			released += n
		}
		return released, nil
	})
}

func (s wiredStore) Canceling(ctx context.Context, held []store.Holder) ([]store.Holder, error) {
	return checked(ctx, s, "canceling", "", 0,
		func(ctx context.Context) ([]store.Holder, error) { return s.jobs().Canceling(ctx, held) })
}
