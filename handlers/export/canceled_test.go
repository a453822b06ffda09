package export_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/export"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestCanceledAfterUpload: a cancel between the last stages leaves no file.
func TestCanceledAfterUpload(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	putDeck(b, "decks/x.json", nil)
	canceled := errors.New("canceled")
	call := b.Begin(`{"blob":"decks/x.json"}`, task.Hints{})
	call.Progress = &stopping{call.Progress, canceled}
	if _, err := export.New(deps(b)).Handle(t.Context(), call); !errors.Is(err, canceled) {
		t.Error(err)
	}
	if _, err := b.Bucket.Stat(t.Context(), "exports/"+call.Task.ID+".pptx"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the file is left: %v", err)
	}
}

// TestForcedIsCanceled: a forced run that is canceled during or after its upload leaves the file that the first run handed
// out; one without an earlier file leaves none.
func TestForcedIsCanceled(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	canceled := errors.New("canceled")
	for _, first := range []bool{true, false} {
		for _, inUpload := range []bool{true, false} {
			id := fmt.Sprintf("job-%t-%t", first, inUpload)
			putDeck(b, id, nil)
			payload := fmt.Sprintf(`{"blob":"%s"}`, id)
			if first {
				call := b.BeginAs(id, task.Export, payload, task.Hints{})
				out, err := export.New(deps(b)).Handle(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				b.Complete(call, out, &export.Result{})
			}
			d, call := deps(b), b.BeginAs(id, task.Export, payload, task.Hints{Force: true})
			ctx, cancel := context.WithCancelCause(t.Context())
			if inUpload {
				d.Bucket = &canceling{signing: signing{Bucket: b.Bucket}, stop: func() { cancel(canceled) }}
			} else {
				call.Progress = &stopping{call.Progress, canceled}
			}
			if _, err := export.New(d).Handle(ctx, call); !errors.Is(err, canceled) {
				t.Error(err)
			}
			cancel(nil)
			if _, err := b.Bucket.Stat(t.Context(), "exports/"+id+".pptx"); errors.Is(err, blob.ErrNotFound) == first {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
}

// TestEarlierFile: a file is known as an earlier run's also where the message no longer says force, as one that is sent again;
// and one of an attempt before is not.
func TestEarlierFile(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Export, 8)
	putDeck(b, "decks/x.json", nil)
	const payload = `{"blob":"decks/x.json"}`
	canceled := errors.New("canceled")
	call := b.BeginAs("forced", task.Export, payload, task.Hints{})
	out, err := export.New(deps(b)).Handle(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	b.Complete(call, out, &export.Result{})
	call = b.BeginAs("forced", task.Export, payload, task.Hints{Force: true})
	call.Task.Hints.Force = false
	call.Progress = &stopping{call.Progress, canceled}
	if _, err := export.New(deps(b)).Handle(t.Context(), call); !errors.Is(err, canceled) {
		t.Error(err)
	}
	if _, err := b.Bucket.Stat(t.Context(), "exports/forced.pptx"); err != nil {
		t.Errorf("the file of the first run: %v", err)
	}

	call = b.BeginAs("again", task.Export, payload, task.Hints{})
	first := &handlertest.Progress{}
	call.Progress = first
	if _, err := export.New(deps(b)).Handle(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	call.Checkpoint, call.Progress = first.Saved, &stopping{first, canceled}
	if _, err := export.New(deps(b)).Handle(t.Context(), call); !errors.Is(err, canceled) {
		t.Error(err)
	}
	if _, err := b.Bucket.Stat(t.Context(), "exports/again.pptx"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("the file of the attempt before is left: %v", err)
	}
}

// TestCanceledInUpload: a cancel that interrupts the upload leaves no file; an attempt that has lost its job to another
// one leaves the other's.
func TestCanceledInUpload(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		b := handlertest.New(t, task.Export, 8)
		putDeck(b, "decks/x.json", nil)
		d := deps(b)
		call := b.BeginAs("job", task.Export, `{"blob":"decks/x.json"}`, task.Hints{})
		canceled := errors.New("canceled")
		ctx, cancel := context.WithCancelCause(t.Context())
		d.Bucket = &canceling{signing: signing{Bucket: b.Bucket}, stop: func() {
			if lost {
				handlertest.Query[bool](b,
					"with u as (update jobs set lease_expires_at = now() - interval '1 minute' where id = 'job' returning 1) select true from u")
				b.BeginAs("job", task.Export, `{"blob":"decks/x.json"}`, task.Hints{})
			}
			cancel(canceled)
		}}
		if _, err := export.New(d).Handle(ctx, call); !errors.Is(err, canceled) {
			t.Error(err)
		}
		if _, err := b.Bucket.Stat(t.Context(), "exports/"+call.Task.ID+".pptx"); errors.Is(err, blob.ErrNotFound) == lost {
			t.Errorf("the job is lost: %v; the file: %v", lost, err)
		}
	}
}

// canceling is a bucket that takes a file, and whose answer does not come before the task is canceled.
type canceling struct {
	signing
	stop func()
}

func (c *canceling) Put(ctx context.Context, name string, body io.Reader, kind string) (blob.Properties, error) {
	if _, err := c.signing.Put(ctx, name, body, kind); err != nil {
		return blob.Properties{}, err
	}
	c.stop()
	return blob.Properties{}, ctx.Err()
}

type stopping struct {
	handlers.Progress
	err error
}

func (s *stopping) Stage(name string) error {
	if name == "finalizing" {
		return s.err
	}
	return s.Progress.Stage(name)
}
