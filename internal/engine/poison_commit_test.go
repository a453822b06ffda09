package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// dying is a store that goes down for a while at the completion of each poisonous task, and takes all calls with it
// that are under way. A completion takes a while.
type dying struct {
	store.Jobs
	mu     sync.Mutex
	deaths int
	back   time.Time
}

const (
	dyingCommit = 500 * time.Millisecond
	dyingDown   = time.Second
)

func (d *dying) call(poison bool, took time.Duration) error {
	d.mu.Lock()
	began := d.deaths
	up := !time.Now().Before(d.back)
	d.mu.Unlock()
	gone := taskerr.Errorf(taskerr.TransientStorage, "the connection is gone")
	gone.Dependency = taskerr.Database
	if !up {
		return gone
	}
	time.Sleep(took)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaths != began || time.Now().Before(d.back) {
		return gone
	}
	if poison {
		d.deaths, d.back = d.deaths+1, time.Now().Add(dyingDown)
		return gone
	}
	return nil
}

func (d *dying) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	if err := d.call(false, 0); err != nil {
		return store.BeginAnswer{}, err
	}
	return d.Jobs.Begin(ctx, b)
}

func (d *dying) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	if err := d.call(false, 0); err != nil {
		return store.HeartbeatAnswer{}, err
	}
	return d.Jobs.Heartbeat(ctx, b)
}

func (d *dying) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	if err := d.call(poisonous(c.JobID), dyingCommit); err != nil {
		return store.Settlement{}, err
	}
	return d.Jobs.Complete(ctx, c)
}

func (d *dying) Retry(ctx context.Context, r store.Retry) (store.Settlement, error) {
	if err := d.call(false, 0); err != nil {
		return store.Settlement{}, err
	}
	return d.Jobs.Retry(ctx, r)
}

func (d *dying) Fail(ctx context.Context, f store.Failure) (store.Settlement, error) {
	if err := d.call(false, 0); err != nil {
		return store.Settlement{}, err
	}
	return d.Jobs.Fail(ctx, f)
}

// Tasks whose commits take the database down each time, together with one whose commit does not: it is not blamed for
// what they do, and they end.
func TestCommitBesidePoison(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.Concurrency, w.cfg.PollMax = 8, 300*time.Millisecond
		w.jobs = &dying{Jobs: w.store}
		w.start(done)
		for i := range 4 {
			w.send(w.queues.Normal, message(fmt.Sprint("poison", i), ""))
			w.send(w.queues.Normal, message(fmt.Sprint("healthy", i), ""))
		}
		w.settled(30 * time.Minute)
		for i := range 4 {
			w.expectState(fmt.Sprint("poison", i), job.Failed, 3)
			w.expectState(fmt.Sprint("healthy", i), job.Succeeded, 1)
		}
	})
}
