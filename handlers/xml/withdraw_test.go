package xml_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

var errCanceled = errors.New("canceled")

// stopping is the progress of a task that is canceled before its last stage.
type stopping struct{ handlers.Progress }

func (s stopping) Stage(name string) error {
	if name == "finalizing" {
		return errCanceled
	}
	return s.Progress.Stage(name)
}

// TestCanceledAfterUpload: a cancel between the last stages leaves no result. One that is recorded stays.
func TestCanceledAfterUpload(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.finish(b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{}))
	c := b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{Force: true})
	c.Progress = stopping{c.Progress}
	if _, err := xml.New(b.deps).Handle(t.Context(), c); !errors.Is(err, errCanceled) {
		t.Error(err)
	}
	if b.there("results/2/t7.xml") || !b.there("results/t7.xml") {
		t.Error("the canceled result is left, or the recorded one is gone")
	}
}

// TestCanceledInUpload: a cancel that interrupts the upload leaves no result. An attempt that has lost its job to another
// one leaves the other's.
func TestCanceledInUpload(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		b := newBench(t, gatewaytest.Options{})
		c := b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{})
		ctx, cancel := context.WithCancelCause(t.Context())
		b.deps.Bucket = canceling{b.Bucket, func() {
			if lost {
				handlertest.Query[bool](b.Bench,
					"with u as (update jobs set lease_expires_at = now() - interval '1 minute' where id = 't7' returning 1) select true from u")
				b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{})
			}
			cancel(errCanceled)
		}}
		if _, err := xml.New(b.deps).Handle(ctx, c); !errors.Is(err, errCanceled) {
			t.Error(err)
		}
		if there := b.there("results/t7.xml"); there != lost {
			t.Errorf("the job is lost: %t, the result is there: %t", lost, there)
		}
	}
}

// there reports whether a blob exists.
func (b *bench) there(name string) bool {
	b.Helper()
	_, err := b.Bench.Bucket.Stat(b.Context(), name)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		b.Fatal(err)
	}
	return err == nil
}

// canceling is a bucket that takes a result, and whose answer does not come before the task is canceled.
type canceling struct {
	blob.Bucket
	stop func()
}

func (c canceling) PutNew(ctx context.Context, name string, r io.Reader, kind string) (blob.Properties, error) {
	if _, err := c.Bucket.PutNew(ctx, name, r, kind); err != nil {
		return blob.Properties{}, err
	}
	c.stop()
	return blob.Properties{}, ctx.Err()
}
