package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// saving is a handler of four steps that must not be done twice once they were saved, and that streams meanwhile.
func saving() handlerFunc {
	return func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
		done := 0
		if c.Checkpoint != nil {
			if err := json.Unmarshal(c.Checkpoint, &done); err != nil {
				return handlers.Outcome{}, err
			}
		}
		if err := c.Progress.Stage("first"); err != nil {
			return handlers.Outcome{}, err
		}
		c.Progress.Delta("step", startsOver(c))
		for ; done < 4; done++ {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
			c.Progress.Delta(fmt.Sprint(" ", done), false)
			c.Progress.Checkpoint(done + 1)
			if err := c.Progress.Save(ctx); err != nil {
				return handlers.Outcome{}, err
			}
		}
		return handlers.Outcome{Result: map[string]int{"done": done}}, nil
	}
}

// startsOver reports whether an earlier attempt may have streamed a text. The number doesn't tell: it repeats.
func startsOver(c handlers.Call) bool { return c.Holder.Fence > 1 }

// read is what somebody has who reads a job's text along.
func read(events []store.JobEvent) (text string) {
	for _, e := range events {
		var d struct {
			Delta   string `json:"delta"`
			Restart bool   `json:"restart"`
		}
		if e.Metadata == nil || json.Unmarshal(e.Metadata, &d) != nil {
			continue
		}
		if d.Restart {
			text = ""
		}
		text += d.Delta
	}
	return text
}

// The first piece of a text is in the store at once, the others a few times a second; none is lost, and their
// order is kept.
func TestTextIsWrittenAsItComes(t *testing.T) {
	inWorld(t, func(w *world) {
		var want, before strings.Builder
		var early []store.JobEvent
		w.start(func(_ context.Context, c handlers.Call) (handlers.Outcome, error) {
			if err := c.Progress.Stage("first"); err != nil {
				return handlers.Outcome{}, err
			}
			time.Sleep(100 * time.Millisecond) // much less than a flush
			c.Progress.Delta("void", false)
			time.Sleep(time.Millisecond)
			early = w.row("t1").Events
			c.Progress.Delta(" and void", false)
			c.Progress.Delta("", true)
			for i := range 300 {
				piece := fmt.Sprint(i, " ")
				want.WriteString(piece)
				if i <= 150 {
					before.WriteString(piece)
				}
				c.Progress.Delta(piece, false)
				if i == 150 {
					if err := c.Progress.Stage("second"); err != nil {
						return handlers.Outcome{}, err
					}
				}
				if i%50 == 0 {
					c.Progress.Report(float64(i)/300, "")
				}
				time.Sleep(10 * time.Millisecond)
			}
			return done(t.Context(), c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.expectState("t1", job.Succeeded, 1)
		w.expectInvariants()
		if got := read(early); got != "void" {
			t.Errorf("a millisecond after the first piece there was %q", got)
		}
		events := w.row("t1").Events
		if got := read(events); got != want.String() {
			t.Errorf("read %q, want %q", got, want.String())
		}
		second := slices.IndexFunc(events, func(e store.JobEvent) bool { return e.Stage == "second" })
		if got := read(events[:max(second, 0)]); got != before.String() {
			t.Errorf("read in the first stage: %q, want %q", got, before.String())
		}
		if n := len(events); n < 8 || n > 20 { // 3 s of text
			t.Errorf("%d events", n)
		}
	})
}

// Who reads along has the text of the last attempt alone, also when its number is 1 again: after an attempt that was not
// counted (I9), and in another series.
func TestTextOfAnEarlierAttempt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.cfg.DrainMax = time.Second
		runs, fence := 0, int64(0)
		work := func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			runs++
			if c.Attempt != 1 || c.Holder.Fence <= fence {
				t.Errorf("run %d is attempt %d under fence %d, after %d", runs, c.Attempt, c.Holder.Fence, fence)
			}
			fence = c.Holder.Fence
			if err := c.Progress.Stage("first"); err != nil {
				return handlers.Outcome{}, err
			}
			c.Progress.Delta(fmt.Sprint("run ", runs), startsOver(c))
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
				return handlers.Outcome{}, context.Cause(ctx)
			}
			c.Progress.Delta(" to its end", false)
			return done(ctx, c)
		}
		w.start(work)
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		w.shutdown() // in the middle of the text
		w.expectState("t1", job.Pending, 0)
		if got := read(w.row("t1").Events); got != "run 1" {
			t.Errorf("after the first run %q", got)
		}
		w.start(work)
		for run := 2; run <= 3; run++ {
			w.settled(time.Minute)
			w.expectState("t1", job.Succeeded, 1)
			if got, want := read(w.row("t1").Events), fmt.Sprintf("run %d to its end", run); got != want {
				t.Errorf("read %q, want %q", got, want)
			}
			if run == 2 {
				w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{"n":1},"hints":{"force":true}}`)
			}
		}
	})
}

// beats is a store whose heartbeats fail during an outage.
type beats struct {
	store.Jobs
	mu    sync.Mutex
	until time.Time
	calls int
}

func (b *beats) Heartbeat(ctx context.Context, beat store.Heartbeat) (store.HeartbeatAnswer, error) {
	b.mu.Lock()
	b.calls++
	down := time.Now().Before(b.until)
	b.mu.Unlock()
	if down {
		return store.HeartbeatAnswer{}, taskerr.Blame(taskerr.Database, taskerr.Errorf(taskerr.TransientStorage, "down"))
	}
	return b.Jobs.Heartbeat(ctx, beat)
}

// Save returns when the checkpoint is in the store, also after a short outage; a long one is the end of the attempt,
// which is not counted, and what was saved is not done again.
func TestSave(t *testing.T) {
	for name, c := range map[string]struct {
		outage time.Duration
	}{"up": {}, "a short outage": {outage: 20 * time.Second}, "a long outage": {outage: 3 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				b := &beats{Jobs: w.store}
				w.jobs = b
				var steps []int
				w.start(func(ctx context.Context, call handlers.Call) (handlers.Outcome, error) {
					step := 0
					if call.Checkpoint != nil {
						if err := json.Unmarshal(call.Checkpoint, &step); err != nil {
							return handlers.Outcome{}, err
						}
					}
					for ; step < 3; step++ {
						steps = append(steps, step)
						if step == 1 && b.until.IsZero() {
							b.mu.Lock()
							b.until = time.Now().Add(c.outage)
							b.mu.Unlock()
						}
						call.Progress.Checkpoint(step + 1)
						if err := call.Progress.Save(ctx); err != nil {
							return handlers.Outcome{}, err
						}
						if got := string(w.row("t1").Checkpoint); got != fmt.Sprint(step+1) {
							t.Errorf("saved %d, and the store has %s", step+1, got)
						}
					}
					return done(ctx, call)
				})
				w.send(w.queues.Normal, message("t1", ""))
				w.settled(30 * time.Minute)
				w.expectState("t1", job.Succeeded, 1) // I9: an outage costs no attempt
				if got := fmt.Sprint(steps); got != "[0 1 2]" {
					t.Errorf("steps %s, want each once", got)
				}
			})
		})
	}
}

// Save says when the task is to stop, and a goroutine that its handler left behind saves nothing.
func TestSaveStops(t *testing.T) {
	inWorld(t, func(w *world) {
		said, late := make(chan error, 1), make(chan error, 1)
		b := &beats{Jobs: w.store}
		w.jobs = b
		leave := make(chan struct{})
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			go func() {
				<-leave
				c.Progress.Checkpoint("late")
				late <- c.Progress.Save(context.Background())
			}()
			time.Sleep(10 * time.Second)
			c.Progress.Checkpoint("canceled")
			err := c.Progress.Save(ctx) // the pulse brings the request, or the watcher did
			said <- err
			return handlers.Outcome{}, err
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(5 * time.Second)
		if _, err := w.store.RequestCancel(t.Context(), "t1", "a test"); err != nil {
			t.Fatal(err)
		}
		w.settled(time.Minute)
		if err := <-said; !errors.Is(err, engine.ErrCanceled) {
			t.Errorf("Save says %v", err)
		}
		w.expectState("t1", job.Canceled, 1)
		calls := b.calls
		close(leave)
		if err := <-late; err == nil || b.calls != calls {
			t.Errorf("a goroutine that was left behind could save: %v", err)
		}
		w.expectInvariants()
	})
}

// The counts of pages are fields of the events.
func TestPagesAreInEvents(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			c.Progress.Pages(0, 0)
			if err := c.Progress.Stage("first"); err != nil {
				return handlers.Outcome{}, err
			}
			c.Progress.Pages(3, 7)
			c.Progress.Report(0.5, "page 4")
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		got := map[string]string{}
		for _, e := range w.row("t1").Events {
			got[e.Stage+" "+e.Message] = string(e.Metadata)
		}
		if got["first "] != `{"pages_completed":0}` || got["first page 4"] != `{"pages_completed":3,"total_pages":7}` {
			t.Errorf("the events are %q", got)
		}
	})
}
