package convert_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// failing is a bucket whose n-th Put fails.
type failing struct {
	blob.Bucket
	left int
	err  error
	// what is written although the answer is lost
	write bool
}

func (f *failing) Put(ctx context.Context, name string, body io.Reader, kind string) (blob.Properties, error) {
	if f.left--; f.left == 0 {
		if f.write {
			_, _ = f.Bucket.Put(ctx, name, body, kind)
		}
		return blob.Properties{}, f.err
	}
	return f.Bucket.Put(ctx, name, body, kind)
}

// TestUploadFails: wherever the upload fails, nothing of the deck is left, and the next attempt makes all of it.
func TestUploadFails(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	before := names(b)
	d := deps(b)
	down := taskerr.Errorf(taskerr.TransientStorage, "down")
	for n := 1; n <= 4; n++ {
		d.Bucket = &failing{Bucket: b.Bucket, left: n, err: down, write: n%2 == 0}
		_, err := convert.New(d).Handle(t.Context(), b.Begin(`{"filename":"talk.pptx"}`, task.Hints{}))
		var busy *store.BusyError
		if errors.As(err, &busy) { // the attempt before holds the document
			b.Fatal(err)
		}
		if !errors.Is(err, down) {
			t.Errorf("upload %d: %v", n, err)
		}
		if after := names(b); !slices.Equal(before, after) {
			t.Errorf("upload %d: %v are left", n, after)
		}
		handlertest.Query[bool](b, "with u as (update jobs set status = 'canceled', completed_at = now(), lease_expires_at = null where status = 'running' returning 1) select true from u limit 1")
	}
}

// TestKilled: an attempt that ends in the middle of the upload leaves what the next one overwrites: one deck, one set of
// blobs. A forced run makes another deck, and leaves the first.
func TestKilled(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	d := deps(b)
	call := b.BeginAs("job", task.Convert, `{"filename":"talk.pptx"}`, task.Hints{})
	d.Bucket = &killing{Bucket: b.Bucket, after: 3}
	func() {
		defer func() { _ = recover() }() // the process would be gone
		_, _ = convert.New(d).Handle(t.Context(), call)
	}()
	partial := names(b)
	if len(partial) < 3 {
		t.Fatalf("the attempt was killed too early: %v", partial)
	}
	d.Bucket = b.Bucket
	out, err := convert.New(d).Handle(t.Context(), handlers.Call{Task: call.Task, Holder: call.Holder, Attempt: 2, Progress: &handlertest.Progress{}})
	if err != nil {
		t.Fatal(err)
	}
	var r convert.Result
	raw, _ := json.Marshal(out.Result)
	settled, err := b.Store.Complete(t.Context(), store.Completion{Holder: call.Holder, Result: raw, Effects: out.Effects})
	if err != nil || json.Unmarshal(settled.Result, &r) != nil {
		t.Fatal(err)
	}
	for _, name := range names(b) {
		if strings.HasPrefix(name, "decks/") && !strings.Contains(name, r.DeckID) {
			t.Errorf("%s belongs to no deck", name)
		}
	}
	if n := handlertest.Query[int](b, "select count(*) from decks"); n != 1 {
		t.Errorf("%d decks", n)
	}
	again := b.BeginAs("job", task.Convert, `{"filename":"talk.pptx"}`, task.Hints{Force: true})
	out, err = convert.New(d).Handle(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ = json.Marshal(out.Result)
	var second convert.Result
	settled, err = b.Store.Complete(t.Context(), store.Completion{Holder: again.Holder, Result: raw, Effects: out.Effects})
	if err != nil || json.Unmarshal(settled.Result, &second) != nil || second.DeckID == r.DeckID || b.Get(r.ResultPath) == "" {
		t.Errorf("%+v, %v", second, err)
	}
	// A deletion has removed the first deck, and not the second.
	handlertest.Query[bool](b, "with g as (delete from decks where id = '"+r.DeckID+"' returning 1) select true from g")
	before := b.Get(second.ResultPath)
	other := decktest.Sample(t)
	other.Title = "Another talk"
	b.Put("talk.pptx", string(decktest.PPTX(t, other)))
	again = b.BeginAs("job", task.Convert, `{"filename":"talk.pptx"}`, task.Hints{Force: true})
	if out, err = convert.New(d).Handle(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	raw, _ = json.Marshal(out.Result)
	if _, err = b.Store.Complete(t.Context(), store.Completion{Holder: again.Holder, Result: raw, Effects: out.Effects}); err != nil ||
		b.Get(second.ResultPath) != before {
		t.Errorf("a deck after one was deleted: %v", err)
	}
}

// killing is a bucket in whose n-th Put the process ends.
type killing struct {
	blob.Bucket
	after int
}

func (k *killing) Put(ctx context.Context, name string, body io.Reader, kind string) (blob.Properties, error) {
	if k.after--; k.after < 0 {
		panic("killed")
	}
	return k.Bucket.Put(ctx, name, body, kind)
}

// TestLateAttempt: an attempt that has lost its job to another one removes none of the other's blobs when it ends.
func TestLateAttempt(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	d, late := deps(b), deps(b)
	begin := func() handlers.Call { return b.BeginAs("job", task.Convert, `{"filename":"talk.pptx"}`, task.Hints{}) }
	first := begin()
	lost := errors.New("the lease is lost")
	var r convert.Result
	late.Bucket = &interrupted{Bucket: b.Bucket, after: 3, then: func() error {
		handlertest.Query[bool](b, "with u as (update jobs set lease_expires_at = now() - interval '1 minute' where id = 'job' returning 1) select true from u")
		second := begin()
		out, err := convert.New(d).Handle(t.Context(), second)
		if err != nil {
			t.Error(err)
		}
		raw, _ := json.Marshal(out.Result)
		settled, err := b.Store.Complete(t.Context(), store.Completion{Holder: second.Holder, Result: raw, Effects: out.Effects})
		if err != nil || json.Unmarshal(settled.Result, &r) != nil {
			t.Error(err)
		}
		return lost
	}}
	if _, err := convert.New(late).Handle(t.Context(), first); !errors.Is(err, lost) {
		t.Errorf("the late attempt: %v", err)
	}
	there := strings.Join(names(b), " ")
	for _, name := range []string{r.ResultPath, r.PreviewPath} {
		if name == "" || !strings.Contains(there, name) {
			t.Errorf("%q is gone; there are %s", name, there)
		}
	}
	if n := strings.Count(there, "/media/"); n != r.Pictures {
		t.Errorf("%d pictures of %d are there", n, r.Pictures)
	}
}

// interrupted is a bucket in whose n-th Put something happens.
type interrupted struct {
	blob.Bucket
	after int
	then  func() error
}

func (i *interrupted) Put(ctx context.Context, name string, body io.Reader, kind string) (blob.Properties, error) {
	if i.after--; i.after == 0 {
		return blob.Properties{}, i.then()
	}
	return i.Bucket.Put(ctx, name, body, kind)
}

// TestOneAtATime: while a job converts a document, another one of the same document waits and does nothing.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	first := b.Begin(`{"filename":"talk.pptx"}`, task.Hints{})
	if _, err := convert.New(deps(b)).Handle(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	before := names(b)
	var busy *store.BusyError
	_, err := convert.New(deps(b)).Handle(t.Context(), b.Begin(`{"filename":"talk.pptx"}`, task.Hints{}))
	if !errors.As(err, &busy) || busy.JobID != first.Holder.JobID {
		t.Errorf("the second: %v", err)
	}
	if !slices.Equal(before, names(b)) {
		t.Error("the second has written blobs")
	}
}

// TestStops: a canceled task stops, and leaves nothing.
func TestStops(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	before := names(b)
	canceled := errors.New("canceled")
	for n := 1; n <= 6; n++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		call := b.Begin(`{"filename":"talk.pptx"}`, task.Hints{})
		call.Progress = &stopping{Progress: call.Progress, after: n, stop: func() { cancel(canceled) }, err: canceled}
		_, err := convert.New(deps(b)).Handle(ctx, call)
		if !errors.Is(err, canceled) {
			t.Errorf("stage %d: %v", n, err)
		}
		if after := names(b); !slices.Equal(before, after) {
			t.Errorf("stage %d: %v are left", n, after)
		}
		b.CheckTemp()
		handlertest.Query[bool](b, "with u as (update jobs set status = 'canceled', completed_at = now(), lease_expires_at = null where status = 'running' returning 1) select true from u limit 1")
	}
}

// stopping cancels the task at its n-th stage.
type stopping struct {
	handlers.Progress
	after int
	stop  func()
	err   error
}

func (s *stopping) Stage(name string) error {
	if s.after--; s.after == 0 {
		s.stop()
		return s.err
	}
	return s.Progress.Stage(name)
}
