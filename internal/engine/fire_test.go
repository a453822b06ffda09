package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// hooked lets a test stand before single calls of the store; a nil hook lets the call through.
type hooked struct {
	*storememory.Jobs
	begin     func(context.Context, store.Begin) (store.BeginAnswer, error)
	heartbeat func(context.Context, store.Heartbeat) (store.HeartbeatAnswer, error)
	complete  func(context.Context, store.Completion) (store.Settlement, error)
}

func (h *hooked) Begin(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
	if h.begin != nil {
		return h.begin(ctx, b)
	}
	return h.Jobs.Begin(ctx, b)
}

func (h *hooked) Heartbeat(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
	if h.heartbeat != nil {
		return h.heartbeat(ctx, b)
	}
	return h.Jobs.Heartbeat(ctx, b)
}

func (h *hooked) Complete(ctx context.Context, c store.Completion) (store.Settlement, error) {
	if h.complete != nil {
		return h.complete(ctx, c)
	}
	return h.Jobs.Complete(ctx, c)
}

func (w *world) hook() *hooked {
	h := &hooked{Jobs: w.store}
	w.jobs = h
	return h
}

var errDown = taskerr.Errorf(taskerr.TransientStorage, "the database is down")

// A panic while a message is looked at ends that message and not the worker.
func TestPanicInCheck(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(done)
		w.send(w.queues.Normal, message("bad", `,"explode":true`))
		w.send(w.queues.Normal, message("good", ""))
		w.settled(time.Minute)
		w.expectState("good", job.Succeeded, 1)
		w.expectState("bad", job.Failed, 0)
		if env := w.expectBuried("internal_bug"); env.ErrorClass != string(taskerr.InternalBug) {
			t.Errorf("the envelope is %+v", env)
		}
		w.expectDepth(w.queues.Normal, 0)
	})
}

type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("a bug in a result") }

// So does a panic after the handler has returned.
func TestPanicInResult(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{Result: explosive{}}, nil
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Failed, 1)
		w.expectBuried("permanent")
		w.expectDepth(w.queues.Normal, 0)
	})
}

// The handler's events are written even when the commit had to be repeated (I8).
func TestRetriedCommitKeepsEvents(t *testing.T) {
	inWorld(t, func(w *world) {
		var tries atomic.Int32
		h := w.hook()
		h.complete = func(ctx context.Context, c store.Completion) (store.Settlement, error) {
			if tries.Add(1) < 3 {
				return store.Settlement{}, errDown
			}
			return w.store.Complete(ctx, c)
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if err := c.Progress.Stage("second"); err != nil {
				return handlers.Outcome{}, err
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		written := 0
		for _, e := range w.row("t1").Events {
			if e.Stage == "second" {
				written++
			}
		}
		if written != 1 {
			t.Errorf("the stage was written %d times, want once", written)
		}
	})
}

// A checkpoint left just before an error is there for the next attempt.
func TestCheckpointSurvivesAnError(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if c.Attempt == 1 {
				c.Progress.Checkpoint(7)
				return handlers.Outcome{}, taskerr.Errorf(taskerr.ModelOverloaded, "busy")
			}
			if string(c.Checkpoint) != "7" {
				t.Errorf("the checkpoint is %q, want 7", c.Checkpoint)
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Minute)
		w.expectState("t1", job.Succeeded, 2)
	})
}

// A key that was just rotated, or a schema that the API is just loading, is not a bug of the task.
func TestStoreRefusalIsRetried(t *testing.T) {
	for _, refusal := range []error{store.ErrForbidden, store.ErrSchema} {
		inWorld(t, func(w *world) {
			w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
				if c.Attempt == 1 {
					return handlers.Outcome{}, fmt.Errorf("stage the document: %w", refusal)
				}
				return done(ctx, c)
			})
			w.send(w.queues.Normal, message("t1", ""))
			w.settled(5 * time.Minute)
			w.expectState("t1", job.Succeeded, 2)
		})
	}
}

// A message that the store can't take for good is dead-lettered, and does not come back for ever.
func TestBeginRefusesForGood(t *testing.T) {
	inWorld(t, func(w *world) {
		w.hook().begin = func(context.Context, store.Begin) (store.BeginAnswer, error) {
			return store.BeginAnswer{}, taskerr.Errorf(taskerr.ValidationError, "a value can't be stored")
		}
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectBuried("invalid_payload")
		w.expectDepth(w.queues.Normal, 0)
	})
}

// The queue of one priority that fails does not keep the others from being served.
func TestBrokenQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.queues.High = brokenQueue{w.queues.High}
		w.start(done)
		w.send(w.queues.Normal, message("t1", ""))
		w.send(w.queues.Low, message("t2", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectState("t2", job.Succeeded, 1)
	})
}

type brokenQueue struct{ queue.Queue }

func (brokenQueue) Receive(context.Context, int, time.Duration) ([]*queue.Message, error) {
	return nil, queue.ErrNotFound
}

// While the database does not answer the work goes on, for nobody else can begin it; it is done once.
func TestStoreOutage(t *testing.T) {
	inWorld(t, func(w *world) {
		var down atomic.Bool
		h := w.hook()
		h.heartbeat = func(ctx context.Context, b store.Heartbeat) (store.HeartbeatAnswer, error) {
			if down.Load() {
				return store.HeartbeatAnswer{}, errDown
			}
			return w.store.Heartbeat(ctx, b)
		}
		h.begin = func(ctx context.Context, b store.Begin) (store.BeginAnswer, error) {
			if down.Load() {
				return store.BeginAnswer{}, errDown
			}
			return w.store.Begin(ctx, b)
		}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			select {
			case <-time.After(10 * time.Minute):
				return done(ctx, c)
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(30 * time.Second)
		down.Store(true)
		w.settled(5 * time.Minute)
		down.Store(false)
		w.settled(15 * time.Minute)
		w.expectState("t1", job.Succeeded, 1)
	})
}

// Staged work that another job took away ends an attempt, which is not counted: the job is still held.
func TestLostStagingCostsNoAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs atomic.Int32
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if runs.Add(1) == 1 {
				return handlers.Outcome{}, fmt.Errorf("stage chunks: %w", store.ErrFenced)
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(30 * time.Second)
		w.expectState("t1", job.Succeeded, 1)
	})
}

// However long an error's message is, its dead letter fits into the queue.
func TestLongErrorIsBuried(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "%s", strings.Repeat("\x01", 40_000))
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectBuried("permanent")
		w.expectDepth(w.queues.Normal, 0)
	})
}
