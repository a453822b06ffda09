package cli

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// untakenAfter is longer than an idle worker that nobody wakes waits by default until it looks at a queue: up to three times
// POLL_MAX_MS.
const untakenAfter = 40 * time.Second

// untaken reports once that no worker has begun any of the followed jobs.
type untaken struct {
	tell  func()
	once  sync.Once
	taken atomic.Bool // one of the jobs was: a worker runs, and the others wait for it
}

// look sees a job that does not finish, waited after the following began.
func (u *untaken) look(j store.Job, waited time.Duration) {
	switch {
	case u == nil:
	case job.State(j.Status) != job.Pending || j.Attempts > 0 || j.StartedAt != nil:
		u.taken.Store(true)
	case j.RunAt != nil && time.Since(*j.RunAt) < untakenAfter: // not yet
	case waited >= untakenAfter && !u.taken.Load():
		u.once.Do(u.tell)
	}
}

// untaken returns what reports to the user, beside what d shows.
func (p *program) untaken(d display) *untaken {
	return &untaken{tell: func() {
		w := p.stderr
		if b, ok := d.(*bars); ok {
			w = b.progress // above the bars
		}
		printWrapped(w, "", p.addressed("No worker has taken the task yet; async-worker status "+
			"tells whether one runs. Ctrl-C stops waiting and leaves the task in the queue."))
	}}
}
