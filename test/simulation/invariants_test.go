package simulation

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// rows are all jobs.
func (w *world) rows() []memory.Row {
	jobs := must(memory.Reader{Store: w.store, ClientID: client}.Jobs(context.Background(),
		store.JobFilter{Limit: 1000}))
	rows := make([]memory.Row, len(jobs))
	for i, j := range jobs {
		rows[i], _ = w.store.Row(j.ID)
	}
	return rows
}

// pending describes what is still to do; empty: nothing.
func (w *world) pending() (id, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.rows() {
		if !r.State.Terminal() {
			return r.JobID, "I1: the job is " + string(r.State)
		}
	}
	for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low} {
		if w.depth(q.Name()) > 0 {
			return "", "I1: there are messages in " + q.Name()
		}
	}
	return "", ""
}

// check checks the end of a schedule against I1 to I9 and I11.
func (w *world) check() {
	if id, what := w.pending(); what != "" {
		w.violated(id, "%s at the end", what)
	}
	for _, s := range w.book.sent {
		if why := w.unsettled(s); why != "" {
			w.violated(w.means(s.text).task.ID, "I1: message %s is gone although %s", s.id, why)
		}
	}
	for id := range w.book.accepted {
		if _, ok := w.store.Row(id); !ok {
			w.violated(id, "I1: the submitted job is gone")
		}
	}
	for _, r := range w.rows() {
		w.checkEffects(r)
		w.checkAttempts(r)
		w.checkEnd(r)
	}
	w.checkCopies()
}

// checkEffects: one effect for each commit, of the job's own payload (I2, I5).
func (w *world) checkEffects(r memory.Row) {
	effects := w.book.effects[r.JobID]
	var p work
	_ = json.Unmarshal(r.Payload, &p) // a rejected one may have none
	for _, e := range effects {
		if e.n != p.N {
			w.violated(r.JobID, "I5: an effect of another payload")
		}
	}
	if len(effects) != r.Commits || r.Series > 1+w.book.forced[r.JobID] ||
		(r.Series == 1 && (r.State == job.Succeeded) != (r.Commits == 1)) {
		w.violated(r.JobID, "I2: %d effects and %d commits in %d series of a job that is %s", len(effects), r.Commits,
			r.Series, r.State)
	}
}

// checkAttempts: each attempt was started, a released one is not counted, and only an error or a lost worker costs
// another one (I9).
func (w *world) checkAttempts(r memory.Row) {
	started, released, failed := 0, 0, 0
	for _, e := range r.Events {
		switch e.Stage {
		case "restarted":
			started, released, failed = 0, 0, 0
		case "started":
			started++
		case "released":
			released++
		case "retrying", "worker_lost":
			failed++
		}
	}
	if r.Attempts != started-released || r.Attempts-1 > failed {
		w.violated(r.JobID, "I9: %d attempts; %d were started, %d released, %d failed", r.Attempts, started, released,
			failed)
	}
}

// checkEnd: a job ends in one of the ways of its sort.
func (w *world) checkEnd(r memory.Row) {
	var p work
	_ = json.Unmarshal(r.Payload, &p)
	switch {
	case r.State == job.Canceled:
		if !w.book.asked[r.JobID] {
			w.violated(r.JobID, "I7: canceled without a request")
		}
	case r.State == job.Succeeded && slices.Contains(p.Sort.ways(), ""):
	case r.State == job.Failed && taskerr.Class(r.Error.Class) == taskerr.WorkerLost:
	case r.State == job.Failed && slices.Contains(p.Sort.ways(), taskerr.Class(r.Error.Class)):
	case r.State == job.Failed && p.Sort == "": // rejected, without a payload of ours
	default:
		w.violated(r.JobID, "a %s task ended %s (%s: %s)", p.Sort, r.State, r.Error.Class, r.Error.Message)
	}
}

// checkCopies: each dead letter is on its queue, and nothing else (I6).
func (w *world) checkCopies() {
	copies := map[string]int{}
	for {
		msgs := must(w.queues.DeadLetter.Receive(context.Background(), queue.MaxBatch, 24*time.Hour))
		if len(msgs) == 0 {
			break
		}
		for _, m := range msgs {
			var env engine.Envelope
			if err := json.Unmarshal([]byte(m.Text), &env); err != nil {
				w.violated("", "I6: %q is on the dead-letter queue", m.Text)
			}
			copies[env.ID]++
		}
	}
	for _, d := range w.store.DeadLetters() {
		if (copies[d.ID] < 1 || !d.Sent) && !w.book.lost[d.JobID] {
			w.violated(d.JobID, "I6: dead letter %s has %d copies, recorded: %v", d.ID, copies[d.ID], d.Sent)
		}
		delete(copies, d.ID)
	}
	for id := range copies {
		w.violated("", "I6: a copy of dead letter %s, which doesn't exist", id)
	}
}
