package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// life is a job's way through an engine, and how it has to end.
type life struct {
	name    string
	handler handlerFunc
	text    string
	cancel  bool // somebody asks for it after 15 s
	drain   bool // the first worker is told to stop after 10 s
	again   bool // the task is sent again after 15 s
	ends    job.State
}

// work takes a while, so that there are heartbeats, and then does f.
func work(d time.Duration, f handlerFunc) handlerFunc {
	return func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
		if err := c.Progress.Stage("first"); err != nil {
			return handlers.Outcome{}, err
		}
		c.Progress.Report(0.5, "half")
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return handlers.Outcome{}, context.Cause(ctx)
		}
		if err := c.Progress.Stage("second"); err != nil {
			return handlers.Outcome{}, err
		}
		return f(ctx, c)
	}
}

func lives() []life {
	failing := func(class taskerr.Class) handlerFunc {
		return func(context.Context, handlers.Call) (handlers.Outcome, error) {
			return handlers.Outcome{}, taskerr.Errorf(class, "on purpose")
		}
	}
	var tried atomic.Int32
	return []life{
		{name: "succeeds", handler: work(25*time.Second, done), ends: job.Succeeded},
		{name: "succeeds later", ends: job.Succeeded, handler: work(time.Second,
			func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
				if tried.Add(1) == 1 {
					c.Progress.Checkpoint("here")
					return handlers.Outcome{}, taskerr.Errorf(taskerr.ModelOverloaded, "busy")
				}
				return done(ctx, c)
			})},
		{name: "saves", handler: saving(), ends: job.Succeeded},
		{name: "fails", handler: work(time.Second, failing(taskerr.CorruptionDetected)), ends: job.Failed},
		{
			name: "fails and is sent again", handler: work(time.Second, failing(taskerr.CorruptionDetected)), again: true,
			ends: job.Failed,
		},
		{name: "fails each time", handler: work(time.Second, failing(taskerr.AIRateLimit)), ends: job.Failed},
		{name: "refused", handler: work(time.Second, done), text: message("t1", `,"refuse":true`), ends: job.Failed},
		{name: "canceled", handler: work(10*time.Minute, done), cancel: true, ends: job.Canceled},
		{
			name: "moved", handler: work(time.Second, done),
			text: `{"task_id":"t1","task_type":"test","payload":{},"priority":"high"}`, ends: job.Succeeded,
		},
		{name: "moved on demand", ends: job.Succeeded, handler: work(time.Second, done), // each copy would do it again
			text: `{"task_id":"t1","task_type":"test","payload":{},"hints":{"priority":"low","force":true}}`},
		{name: "drained", handler: work(2*time.Minute, done), drain: true, ends: job.Succeeded},
	}
}

// live leads a life on a first worker behind the gate; a minute later a second worker comes, and the
// faults at random end after 9 minutes.
func (w *world) live(l life, g *gate) {
	remove := w.behind(g)
	w.cfg.DrainMax = 5 * time.Second
	w.start(l.handler)
	remove()
	first := *w
	w.stop = nil
	defer first.shutdown()
	text := l.text
	if text == "" {
		text = message("t1", "")
	}
	w.send(w.queues.Normal, text)
	w.settled(10 * time.Second)
	if l.drain {
		first.stop()
	}
	w.settled(5 * time.Second)
	if l.cancel {
		if _, err := w.store.RequestCancel(w.Context(), "t1", "a test"); err != nil {
			w.Fatal(err)
		}
	}
	if l.again {
		w.resent = time.Now()
		w.send(w.queues.Normal, sentAgain)
	}
	w.settled(45 * time.Second)
	w.cfg.Worker = "w2"
	w.start(l.handler)
	if g.odds == nil {
		w.over(g, 8*time.Minute)
		return
	}
	w.settled(8 * time.Minute)
	g.mu.Lock()
	g.odds = nil
	g.mu.Unlock()
	w.over(g, 20*time.Minute)
}

// over lets time pass for d, or until a minute after nothing was left to do: idle workers poll, and that is all.
func (w *world) over(g *gate, d time.Duration) {
	w.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		idle := w.idle(g)
		w.settled(time.Minute)
		if idle && w.idle(g) {
			return
		}
	}
}

// idle reports whether the job has ended, no queue has a message, not even a hidden one, and no call is under way.
func (w *world) idle(g *gate) bool {
	w.Helper()
	if r, ok := w.store.Row("t1"); !ok || !r.State.Terminal() || g.pending.Load() > 0 {
		return false
	}
	for _, d := range w.store.DeadLetters() {
		if !d.Sent {
			return false
		}
	}
	for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low} {
		if n, err := q.Depth(w.Context()); err != nil || n > 0 {
			return false
		}
	}
	return true
}

// expectInvariants checks I1 to I9 of the one job, however it ended.
func (w *world) expectInvariants() {
	w.Helper()
	r := w.row("t1")
	if !r.State.Terminal() || r.Attempts > 3 || r.Commits > 1 || (r.Commits == 1) != (r.State == job.Succeeded) {
		w.Errorf("I2, I3, I6: the job is %s after %d attempts and %d commits", r.State, r.Attempts, r.Commits)
	}
	progress := 0
	for i, e := range r.Events {
		if e.Seq != int64(i)+1 || e.Progress < progress {
			w.Errorf("I8: event %d is %+v after progress %d", i+1, e, progress)
		}
		progress = e.Progress
		last := slices.Contains([]string{"completed", "failed", "canceled"}, e.Stage)
		if last != (i == len(r.Events)-1-w.wantDuplicates(r)) {
			w.Errorf("I8: event %d of %d is %s", i+1, len(r.Events), e.Stage)
		}
	}
	w.expectDuplicates(r)
	for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low} {
		w.expectDepth(q, 0) // settled, and so not lost (I1)
	}
	want := 0
	if r.State == job.Failed {
		want = 1
	}
	letters := w.store.DeadLetters()
	copies, err := w.queues.DeadLetter.Peek(w.Context(), queue.MaxBatch)
	if err != nil {
		w.Fatal(err)
	}
	if len(letters) != want || (len(copies) > 0) != (want > 0) {
		w.Fatalf("I6: %d dead letters and %d copies of a job that is %s", len(letters), len(copies), r.State)
	}
	for _, c := range copies {
		var env engine.Envelope
		if err := json.Unmarshal([]byte(c.Text), &env); err != nil || env.ID != letters[0].ID || !letters[0].Sent {
			w.Errorf("I6: copy %+v, %v of %+v", env, err, letters[0])
		}
	}
}

// Each call of each back end fails once, in each way, in each life: the job ends as it should (I1 to I9).
func TestEveryCallFails(t *testing.T) {
	t.Parallel()
	for i, l := range lives() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			clean := &gate{}
			inWorld(t, func(w *world) {
				w.live(lives()[i], clean)
				w.expectInvariants()
			})
			calls := clean.calls // but for the polls after its end, which are like any other
			for calls[len(calls)-1] == "receive" || calls[len(calls)-1] == "sweep" {
				calls = calls[:len(calls)-1]
			}
			runs := 0
			for at := range calls {
				for _, f := range faults {
					runs++
					g := &gate{at: at + 1, what: f}
					ok := t.Run(fmt.Sprintf("%s at call %d %s", f, at+1, calls[at]), func(t *testing.T) {
						inWorld(t, func(w *world) {
							w.live(lives()[i], g)
							w.expectInvariants()
							if r := w.row("t1"); r.State != l.ends {
								t.Errorf("the job is %s (%s), want %s", r.State, r.Error.Message, l.ends)
							}
						})
					})
					if !ok {
						t.Logf("calls: %v", g.calls[:min(len(g.calls), 40)])
					}
				}
			}
			t.Logf("%d calls, %d runs", len(calls), runs)
		})
	}
}

// A call in ten fails, in any way but a crash.
func TestRandomFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		for i, l := range lives() {
			t.Run(fmt.Sprintf("seed %d %s", seed, l.name), func(t *testing.T) {
				t.Parallel()
				inWorld(t, func(w *world) {
					w.live(lives()[i], &gate{odds: sometimes(seed, faults[:4])})
					w.expectInvariants()
				})
			})
		}
	}
}
