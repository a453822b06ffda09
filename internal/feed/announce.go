package feed

import (
	"context"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Audience is who else learns what a store has written. Its functions must not block; nil: nobody is told.
type Audience struct {
	Others  bool   // listeners of other processes
	Workers bool   // idle workers of other processes, of messages that were sent
	Written func() // is called with each announcement
	Sent    func() // is called for each message that was sent, and by WakeWorkers
}

// Announce returns a store whose written events are announced: to this process's listeners at once, and to those of
// other processes, if to says so, at most once per announceEvery. No write waits for that. Messages that were sent are
// announced in the same way.
func Announce(s store.Store, f *Feed, to Audience) store.Store {
	a := &announcer{Store: s, feed: f, to: to}
	if to.Others {
		a.others = &others{call: s.Wake}
	}
	if to.Workers {
		a.workers = &others{call: func(ctx context.Context, _ []string) error { return s.WakeWorkers(ctx) }}
	}
	return a
}

const (
	announceEvery   = 100 * time.Millisecond
	announceTimeout = 5 * time.Second
	maxAnnounced    = 100 // ids of jobs; more become "any job"
)

// announcer is a store.Store. Its methods do what the store's do.
type announcer struct {
	store.Store

	feed    *Feed
	to      Audience
	others  *others // nil: they are not told
	workers *others
}

func (a *announcer) wrote(err error, jobIDs ...string) {
	if err != nil {
		return
	}
	a.feed.Written(jobIDs...)
	if a.to.Written != nil {
		a.to.Written()
	}
	if a.others != nil {
		a.others.tell(jobIDs)
	}
}

// Close implements store.Store.
func (a *announcer) Close() {
	for _, o := range []*others{a.others, a.workers} {
		if o != nil {
			o.close()
		}
	}
	a.Store.Close()
}

func (a *announcer) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	answer, err := a.Store.Begin(ctx, b)
	if answer.Decision != store.Leased && answer.Decision != store.Waiting && answer.Decision != store.Conflict {
		a.wrote(err, b.JobID)
	}
	return answer, err
}

func (a *announcer) ReleaseUnanswered(ctx context.Context, begins []store.UnansweredBegins) (int, error) {
	released, err := a.Store.ReleaseUnanswered(ctx, begins)
	if released > 0 {
		a.wrote(err)
	}
	return released, err
}

func (a *announcer) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	answer, err := a.Store.Heartbeat(ctx, b)
	if len(b.Events) > 0 {
		a.wrote(err, b.JobID)
	}
	return answer, err
}

func (a *announcer) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	s, err := a.Store.Complete(ctx, c)
	a.wrote(err, c.JobID)
	return s, err
}

func (a *announcer) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	s, err := a.Store.Fail(ctx, f)
	a.wrote(err, f.JobID)
	return s, err
}

func (a *announcer) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	s, err := a.Store.Retry(ctx, r)
	a.wrote(err, r.JobID)
	return s, err
}

func (a *announcer) Release(ctx context.Context, r store.Release) (store.Settlement, error) {
	s, err := a.Store.Release(ctx, r)
	a.wrote(err, r.JobID)
	return s, err
}

func (a *announcer) Canceled(ctx context.Context, h store.Holder, events []store.Event) (store.Settlement, error) {
	s, err := a.Store.Canceled(ctx, h, events)
	a.wrote(err, h.JobID)
	return s, err
}

func (a *announcer) Reject(ctx context.Context, r store.Rejection) (store.Settlement, error) {
	s, err := a.Store.Reject(ctx, r)
	if r.JobID != "" {
		a.wrote(err, r.JobID)
	} else if err == nil && a.to.Written != nil { // a dead letter, which is of no job
		a.to.Written()
	}
	return s, err
}

func (a *announcer) RequestCancel(ctx context.Context, jobID, by string) (store.Job, error) {
	j, err := a.Store.RequestCancel(ctx, jobID, by)
	a.wrote(err, jobID)
	return j, err
}

func (a *announcer) Resend(ctx context.Context, r store.Resend) (bool, error) {
	recorded, err := a.Store.Resend(ctx, r)
	a.wrote(err, r.JobID)
	return recorded, err
}

func (a *announcer) Replay(ctx context.Context, r store.Replay) (store.ReplayAnswer, error) {
	answer, err := a.Store.Replay(ctx, r)
	a.wrote(err, answer.JobID)
	return answer, err
}

func (a *announcer) Requeue(ctx context.Context, r store.Requeue) (store.Job, error) {
	j, err := a.Store.Requeue(ctx, r)
	a.wrote(err, r.JobID)
	return j, err
}

// MarkSent implements store.Jobs. The message is on its queue by now, so workers find it.
func (a *announcer) MarkSent(ctx context.Context, jobID, message string) error {
	err := a.Store.MarkSent(ctx, jobID, message)
	_ = a.WakeWorkers(ctx) // never fails
	return err
}

// WakeWorkers implements store.Feeds.
func (a *announcer) WakeWorkers(context.Context) error {
	if a.to.Sent != nil {
		a.to.Sent()
	}
	if a.workers != nil {
		a.workers.tell(nil)
	}
	return nil
}

// others tells other processes, from a goroutine that ends when there is nothing to tell.
type others struct {
	call func(ctx context.Context, jobIDs []string) error
	done sync.WaitGroup
	stop chan struct{} // closed by close

	mu      sync.Mutex
	closed  bool
	busy    bool // the goroutine runs
	waiting bool // there is something to tell
	jobs    map[string]bool
	any     bool
}

func (o *others) tell(jobIDs []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if o.jobs == nil {
		o.jobs, o.stop = map[string]bool{}, make(chan struct{})
	}
	o.waiting = true
	o.any = o.any || len(jobIDs) == 0 || len(o.jobs) >= maxAnnounced
	if !o.any {
		for _, id := range jobIDs {
			o.jobs[id] = true
		}
	}
	if !o.busy {
		o.busy = true
		o.done.Go(o.run)
	}
}

func (o *others) run() {
	for {
		jobs, ok := o.take()
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), announceTimeout)
		_ = o.call(ctx, jobs) // who is not told asks from time to time, too
		cancel()
		select {
		case <-time.After(announceEvery):
		case <-o.stop:
		}
	}
}

// take returns what to tell; false: nothing, and the goroutine ends.
func (o *others) take() (jobs []string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.waiting {
		o.busy = false
		return nil, false
	}
	if !o.any {
		for id := range o.jobs {
			jobs = append(jobs, id)
		}
	}
	o.waiting, o.any = false, false
	clear(o.jobs)
	return jobs, true
}

// close tells what there is to tell, and waits for that.
func (o *others) close() {
	o.mu.Lock()
	if !o.closed && o.stop != nil {
		close(o.stop)
	}
	o.closed = true
	o.mu.Unlock()
	o.done.Wait()
}
