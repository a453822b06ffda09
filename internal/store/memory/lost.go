package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// How many losses may count no attempt, and half of the time that a suspect waits for the others at first, see 32_losses.sql.
const (
	sparedLosses = 5
	suspectWaits = 8 * time.Minute
)

// beginLost decides about a job whose worker was lost, see aw_begin_lost.
func (s *Jobs) beginLost(r *Row, b store.Begin, now time.Time) store.BeginAnswer {
	counts := s.lossCounts(r, b, now)
	spent := counts && r.Attempts >= r.MaxAttempts
	if !spent && s.suspectWaits(r, now) {
		if r.unsent() { // its message is there, and no sweep needs to send it; what is recorded is another run's
			r.Updated = now
		} else {
			r.Sent = now
		}
		out := r.begun(store.Waiting)
		out.Wait, out.Ran = time.Second, r.Consumed[keyOf(b.Source)]
		return out
	}
	r.Lost = append(r.Lost, r.Worker)
	if spent {
		return s.endLost(r, b, now)
	}
	r.move(job.LeaseLost)
	events := []store.Event{own("worker_lost", fmt.Sprintf("worker %s was lost in attempt %d", r.Worker, r.Attempts))}
	if !counts { // I9
		r.Attempts--
		events = append(events, own("released", "other jobs were lost with it; the attempt is not counted"))
	}
	return r.run(b, now, events...)
}

// endLost ends a job whose worker was lost in its last attempt.
func (s *Jobs) endLost(r *Row, b store.Begin, now time.Time) store.BeginAnswer {
	settled := s.end(r, job.LeaseSpent, ending{
		reason: "worker_lost", source: b.Source, original: b.Original,
		err: store.ErrorInfo{
			Type: "WorkerLost", Class: string(taskerr.WorkerLost), Code: strings.ToUpper(r.Type) + "_WORKER_LOST",
			Retryable: true,
			Message:   fmt.Sprintf("the worker was lost in attempt %d of %d", r.Attempts, r.MaxAttempts),
			Coarse:    taskerr.Classes[taskerr.WorkerLost].Coarse, ProcessingMS: r.tookMS(now),
		},
	})
	out := r.begun(store.Spent)
	out.DeadLetter, out.Deliveries = settled.DeadLetter, settled.Deliveries
	return out
}

// lossCounts reports whether the loss of its worker counts as an attempt of r, see aw_loss_counts.
func (s *Jobs) lossCounts(r *Row, b store.Begin, now time.Time) bool {
	if len(r.Lost) >= sparedLosses {
		return true
	} else if r.LostFence == r.Fence {
		return false
	}
	others, suspects := 0, min(len(r.Lost), 1)
	var together []*Row
	for _, o := range s.rows {
		before := len(o.Lost)
		switch {
		case o.lostWith(r, b, now):
			together = append(together, o)
		case o.State == job.Running && before > 0 && o.Lost[before-1] == r.Worker: // it was begun since
			before--
		default:
			continue
		}
		if o != r {
			others, suspects = others+1, suspects+min(before, 1)
		}
	}
	if others == 0 {
		return true
	}
	for _, o := range together {
		if len(o.Lost) < 2 || suspects > 1 {
			o.LostFence = o.Fence
		}
	}
	return r.LostFence != r.Fence
}

// lostWith reports whether a job is, or will soon be, lost with the worker of another one, and was not begun since.
func (r *Row) lostWith(other *Row, b store.Begin, now time.Time) bool {
	return r.State == job.Running && !r.LeaseEnds.IsZero() && r.Worker == other.Worker &&
		!r.LeaseEnds.After(now.Add(b.Lease/2))
}

// suspectWaits reports whether another job that was ever lost with r is under way, see aw_suspect_waits.
func (s *Jobs) suspectWaits(r *Row, now time.Time) bool {
	workers := append(slices.Clone(r.Lost), r.Worker)
	if len(r.Lost) == 0 || !now.Before(r.LeaseEnds.Add(suspectWaits<<min(len(r.Lost), 3))) {
		return false
	}
	for _, o := range s.rows {
		if o != r && o.State == job.Running && o.Worker != r.Worker && o.LeaseEnds.After(now) &&
			slices.ContainsFunc(append(slices.Clone(o.Lost), o.Worker), func(w string) bool { return slices.Contains(workers, w) }) {
			return true
		}
	}
	return false
}
