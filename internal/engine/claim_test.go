package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// closedBucket is a container that answers each read with an error.
type closedBucket struct {
	blob.Bucket
	err error
}

func (b closedBucket) Open(context.Context, string) (blob.Properties, io.ReadCloser, error) {
	return blob.Properties{}, nil, b.err
}

// A claim check whose blob can't be read waits for a day, and is then dead-lettered: nothing comes back for ever.
func TestUnreadableClaimCheck(t *testing.T) {
	for class, err := range map[taskerr.Class]error{
		taskerr.TransientStorage:      errDown,
		taskerr.DependencyUnavailable: errors.New("the account has no role for this container"),
	} {
		inWorld(t, func(w *world) {
			w.bucket = closedBucket{err: err}
			w.start(done)
			w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","claim_check":{"blob":"tasks/t1.json"}}`)
			w.settled(23 * time.Hour)
			w.expectDepth(w.queues.Normal, 1)
			w.settled(2 * time.Hour)
			w.expectDepth(w.queues.Normal, 0)
			if env := w.expectBuried(string(class)); env.TaskID != "t1" || env.Original == "" {
				t.Errorf("the envelope is %+v", env)
			}
		})
	}
}

// hungBucket is a container that answers no read until its caller gives up, or for longer if it is deaf.
type hungBucket struct {
	blob.Bucket
	deaf    bool
	longest *atomic.Int64
}

func (b hungBucket) Open(ctx context.Context, _ string) (blob.Properties, io.ReadCloser, error) {
	began := time.Now()
	<-ctx.Done()
	if b.longest.Store(int64(time.Since(began))); b.deaf {
		time.Sleep(25 * time.Second) // longer than a message's settlement may take, and within its lease
	}
	return blob.Properties{}, nil, ctx.Err()
}

// punctual is a store that rejects nothing for a caller whose time is up.
type punctual struct{ *storememory.Jobs }

func (p punctual) Reject(ctx context.Context, r store.Rejection) (store.Settlement, error) {
	if ctx.Err() != nil {
		return store.Settlement{}, errDown
	}
	return p.Jobs.Reject(ctx, r)
}

// So does one whose container does not answer: a fetch gives up in time, and the dead letter has time of its own.
func TestHungClaimCheck(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		inWorld(t, func(w *world) {
			bucket := hungBucket{deaf: deaf, longest: new(atomic.Int64)}
			w.bucket, w.jobs = bucket, punctual{w.store}
			w.start(done)
			w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","claim_check":{"blob":"tasks/t1.json"}}`)
			w.settled(26 * time.Hour)
			w.expectDepth(w.queues.Normal, 0)
			w.expectBuried(string(taskerr.NetworkTimeout))
			if got := time.Duration(bucket.longest.Load()); got > 10*time.Second {
				t.Errorf("a fetch held its slot for %v", got)
			}
		})
	}
}

// awayBucket is a container that is down for a while.
type awayBucket struct {
	blob.Bucket
	down  *atomic.Bool
	opens *atomic.Int32
}

func (b awayBucket) Open(_ context.Context, name string) (blob.Properties, io.ReadCloser, error) {
	b.opens.Add(1)
	if b.down.Load() {
		return blob.Properties{}, nil, taskerr.Blame(taskerr.Storage, taskerr.Errorf(taskerr.TransientStorage, "no answer"))
	}
	id := strings.TrimSuffix(strings.TrimPrefix(name, "tasks/"), ".json")
	return blob.Properties{}, io.NopCloser(strings.NewReader(message(id, ""))), nil
}

// While the container is down its claim checks wait without a fetch each, and so do tasks that need it.
func TestClaimChecksUseTheBreaker(t *testing.T) {
	inWorld(t, func(w *world) {
		bucket := awayBucket{down: new(atomic.Bool), opens: new(atomic.Int32)}
		bucket.down.Store(true)
		w.bucket = bucket
		w.probes = engine.Probes{taskerr.Storage: func(context.Context) error {
			if bucket.down.Load() {
				return errDown
			}
			return nil
		}}
		w.startWith(needing(taskerr.Storage, done))
		const claims = 20
		for i := range claims {
			w.send(w.queues.Normal, fmt.Sprintf(`{"claim_check":{"blob":"tasks/t%d.json"}}`, i))
		}
		w.settled(5 * time.Minute)
		if n := bucket.opens.Load(); n > 2*4 { // those of the slots, before the first has failed
			t.Errorf("%d fetches while the container was down", n)
		}
		w.send(w.queues.Normal, message("plain", ""))
		w.settled(time.Minute)
		if _, begun := w.store.Row("plain"); begun {
			t.Error("a task that needs the container was begun")
		}
		bucket.down.Store(false)
		w.settled(15 * time.Minute)
		w.expectState("plain", job.Succeeded, 1)
		for i := range claims {
			w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
		}
	})
}
