package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Sweep finds messages that were recorded and never sent, and jobs whose message must be lost.
func (s *Jobs) Sweep(_ context.Context, o store.SweepAges, limit int) (store.SweepAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found store.SweepAnswer
	var now, timed []store.Unsent
	for _, id := range s.order {
		r := s.rows[id]
		ready := r.unsent() && time.Since(r.Updated) >= o.UnsentFor
		if r.unsent() && r.Submitted.SendAt != nil {
			left := time.Until(*r.Submitted.SendAt)
			if ready = left <= 0; !ready && (found.DueIn == 0 || left < found.DueIn) {
				found.DueIn = left
			}
		}
		if ready && !slices.Contains(o.SkipQueues, r.Submitted.Queue) {
			u := store.Unsent{JobID: id, Queue: r.Submitted.Queue, Message: r.Submitted.Message, Since: r.Updated}
			if r.Submitted.SendAt == nil {
				now = append(now, u)
			} else {
				u.Since = *r.Submitted.SendAt
				timed = append(timed, u)
			}
		}
		if !o.OnlyUnsent && r.stalled(o) {
			since, ok := r.due()
			if !ok {
				since = r.Sent
			}
			found.Stalled = append(found.Stalled, store.Stalled{
				Recorded:    store.Recorded{Job: r.job(), WebhookURL: r.WebhookURL, TraceParent: r.TraceParent},
				Fingerprint: r.Fingerprint, Fence: r.Fence, WorkerLost: !r.LeaseEnds.IsZero(), Since: since,
			})
		}
	}
	found.Stalled = slices.DeleteFunc(found.Stalled, func(st store.Stalled) bool { return compare(st.Mark(), o.After) <= 0 })
	slices.SortFunc(found.Stalled, func(a, b store.Stalled) int { return compare(a.Mark(), b.Mark()) })
	slices.SortStableFunc(timed, func(a, b store.Unsent) int { return a.Since.Compare(b.Since) })
	found.Unsent = inTurns(timed, now)
	found.Unsent = found.Unsent[:min(limit, len(found.Unsent))]
	found.Stalled = found.Stalled[:min(limit, len(found.Stalled))]
	return found, nil
}

// inTurns takes one of each in turns.
func inTurns(a, b []store.Unsent) (all []store.Unsent) {
	for i := range max(len(a), len(b)) {
		all = append(all, a[min(i, len(a)):min(i+1, len(a))]...)
		all = append(all, b[min(i, len(b)):min(i+1, len(b))]...)
	}
	return all
}

func compare(a, b store.Mark) int {
	return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.JobID, b.JobID))
}

// Resend records another message of a stalled job.
func (s *Jobs) Resend(_ context.Context, m store.Resend) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[m.JobID]
	if !ok || r.Fence != m.Fence || !r.stalled(m.Ages) {
		return false, nil
	}
	r.Updated = time.Now()
	if m.Message != "" {
		r.tell(own("", "the message was lost; it is sent again"))
	}
	switch {
	case r.unsent(): // that of a later run has the place
	case m.Message == "":
		r.Sent = time.Now()
	default:
		r.Submitted, r.Sent = &store.Submission{Queue: m.Queue, Message: m.Message}, time.Time{}
	}
	return true, nil
}

// unsent reports whether the row has a message that was not sent.
func (r *Row) unsent() bool { return r.Submitted != nil && r.Sent.IsZero() }

// later reports whether such a message is to be sent after now.
func (r *Row) later(now time.Time) bool {
	return r.unsent() && r.Submitted.SendAt != nil && r.Submitted.SendAt.After(now)
}

func (r *Row) wasSent() {
	if r.Sent.IsZero() {
		r.Sent = time.Now()
	}
}

// due returns since when a job waits to be picked up again, and whether it was ever picked up.
func (r *Row) due() (time.Time, bool) {
	if !r.LeaseEnds.IsZero() {
		return r.LeaseEnds, true
	}
	return r.NotBefore, !r.NotBefore.IsZero()
}

// stalled reports whether a job has waited for too long, see aw_stalled.
func (r *Row) stalled(o store.SweepAges) bool {
	if r.State.Terminal() || r.unsent() && !r.later(time.Now()) {
		return false
	}
	due, begun := r.due()
	if !begun {
		return !r.unsent() && time.Since(r.Sent) >= o.UnstartedFor
	}
	sent := r.Sent
	if r.unsent() { // what is recorded is another run's
		sent = r.Updated
	}
	return time.Since(due) >= o.StalledFor && (!sent.After(due) || time.Since(sent) >= o.AgainAfter)
}
