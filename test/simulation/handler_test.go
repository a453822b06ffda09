package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// handler runs the tasks of one type in one process.
type handler struct {
	kind task.Type
	l    *line
}

func (l *line) handlers() handlers.Registry {
	return must(handlers.NewRegistry(handler{plainType, l}, handler{needyType, l}))
}

func (h handler) Spec() handlers.Spec {
	s := handlers.Spec{
		Type: h.kind, Stages: []job.Stage{
			{Name: "first", Start: 0}, {Name: "second", Start: 10}, {Name: "third", Start: 90},
		},
		Policy: job.Policy{MaxAttempts: 3, Base: 2 * time.Second, Cap: 30 * time.Second, Jitter: job.FullJitter},
	}
	if h.kind == needyType {
		s.Needs = []taskerr.Dependency{taskerr.Model}
		s.Policy = job.Policy{MaxAttempts: 4, Base: time.Second, Cap: 10 * time.Second, Jitter: job.DecorrelatedJitter}
	}
	return s
}

func (h handler) Check(t task.Task) error {
	var p work
	if err := json.Unmarshal(t.Payload, &p); err != nil {
		return taskerr.Errorf(taskerr.ValidationError, "payload: %w", err)
	}
	switch p.Sort {
	case refused:
		return taskerr.Errorf(taskerr.ValidationError, "payload.sort is refused")
	case explodes:
		panic("on purpose")
	}
	return nil
}

func (h handler) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	h.l.enter()
	defer h.l.leave()
	var p work
	if err := json.Unmarshal(c.Task.Payload, &p); err != nil {
		return handlers.Outcome{}, err
	}
	w, end := h.l.w, &handled{ctx: ctx}
	w.mu.Lock()
	w.book.handled[c.Holder] = end
	w.mu.Unlock()
	defer context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		end.endedAt = time.Now()
	})()
	a := attempt{handler: h, Call: c, work: p}
	h.l.maybePause(c.Task.ID, time.Duration(p.TakeS)*time.Second)
	err := a.run(ctx)
	w.mu.Lock()
	end.over, end.err, end.cause, end.returnedAt = true, err, context.Cause(ctx), time.Now()
	w.mu.Unlock()
	if p.Sort == bug && err != nil && ctx.Err() == nil {
		panic("on purpose")
	}
	if err != nil {
		return handlers.Outcome{}, err
	}
	return handlers.Outcome{
		Result: map[string]int{"n": p.N}, Effects: []store.Effect{{Kind: "note", Args: p}},
	}, nil
}

// attempt is one run of a handler.
type attempt struct {
	handler
	handlers.Call
	work
}

func (a *attempt) run(ctx context.Context) error {
	if err := a.Progress.Stage("first"); err != nil {
		return err
	}
	take := time.Duration(a.TakeS) * time.Second
	switch a.Sort {
	case slow:
		return a.steps(ctx, take)
	case busy:
		if err := a.open(ctx); err != nil {
			return err
		}
		return a.steps(ctx, take)
	case stubborn:
		_ = a.sleep(context.WithoutCancel(ctx), take)
		if a.N%2 == 0 {
			return context.Cause(ctx)
		}
		return nil
	case needy, poison, crasher:
		return a.ask(ctx, take)
	}
	if err := a.sleep(ctx, take); err != nil {
		return err
	}
	switch a.Sort {
	case flaky:
		if a.failures() <= a.Fails {
			return &taskerr.Error{
				Class: taskerr.AIRateLimit, Message: "on purpose", RetryAfter: time.Duration(a.After) * time.Second,
			}
		}
	case broken:
		return taskerr.Errorf(taskerr.CorruptionDetected, "on purpose")
	case bug:
		return taskerr.Errorf(taskerr.InternalBug, "on purpose")
	}
	return nil
}

// failures counts the calls for a job, this one included.
func (a *attempt) failures() int {
	w := a.l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed[a.Task.ID]++
	return w.failed[a.Task.ID]
}

// steps is work in ten parts, each staged under the fence and checkpointed.
func (a *attempt) steps(ctx context.Context, take time.Duration) error {
	done := 0
	if a.Checkpoint != nil {
		done = must(strconv.Atoi(string(a.Checkpoint)))
	}
	if err := a.Progress.Stage("second"); err != nil {
		return err
	}
	for ; done < 10; done++ {
		if err := a.sleep(ctx, take/10); err != nil {
			return err
		}
		if err := a.stage(ctx); err != nil {
			return err
		}
		a.Progress.Report(float64(done)/10, fmt.Sprintf("part %d", done))
		a.Progress.Checkpoint(done + 1)
	}
	return a.Progress.Stage("third")
}

// ask needs the model before and after some work.
func (a *attempt) ask(ctx context.Context, take time.Duration) error {
	for range 2 {
		if _, err := carry(ctx, a.l, onModel, "model", a.Task.ID,
			func(context.Context, *faultyCall) (nothing, error) { return nothing{}, nil }); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		if err := a.failing(); err != nil {
			return err
		}
		if err := a.sleep(ctx, take); err != nil {
			return err
		}
	}
	return nil
}

// failing is how the model fails at a poison task, or at any while it is down.
func (a *attempt) failing() error {
	w := a.l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if a.Sort == crasher {
		w.modelDown = time.Now().Add(time.Duration(1+a.N%60) * time.Second)
	}
	if a.Sort == poison || time.Now().Before(w.modelDown) {
		return taskerr.Blame(taskerr.Model, taskerr.Errorf(taskerr.ModelOverloaded, "on purpose"))
	}
	return nil
}

// probe checks whether the model is up.
func (l *line) probe(ctx context.Context) error {
	_, err := carry(ctx, l, onModel, "probe", "", func(context.Context, *faultyCall) (nothing, error) {
		l.w.mu.Lock()
		defer l.w.mu.Unlock()
		if time.Now().Before(l.w.modelDown) {
			return nothing{}, errModelDown
		}
		return nothing{}, nil
	})
	return err
}

var errModelDown = taskerr.Errorf(taskerr.ModelOverloaded, "the model is down")

// sleep takes a while, longer if the process is stopped meanwhile.
func (a *attempt) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-a.l.gone:
		return errGone
	}
	a.l.thaw()
	return context.Cause(ctx)
}

// stage writes something under the fence, as ingest stages chunks.
func (a *attempt) stage(ctx context.Context) error {
	_, err := carry(ctx, a.l, onStore, "stage", a.Task.ID, func(context.Context, *faultyCall) (nothing, error) {
		w := a.l.w
		w.mu.Lock()
		defer w.mu.Unlock()
		if r, ok := w.store.Row(a.Task.ID); !ok || !held(r) || r.Fence != a.Holder.Fence ||
			(a.Doc != "" && w.documents[a.Doc] != a.Holder) {
			return nothing{}, store.ErrFenced
		}
		return nothing{}, nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// open takes the document unless a running job has it, as store.StageDocument does.
func (a *attempt) open(ctx context.Context) error {
	_, err := carry(ctx, a.l, onStore, "open document", a.Task.ID, func(context.Context, *faultyCall) (nothing, error) {
		w := a.l.w
		w.mu.Lock()
		defer w.mu.Unlock()
		if r, ok := w.store.Row(a.Task.ID); !ok || !held(r) || r.Fence != a.Holder.Fence {
			return nothing{}, store.ErrFenced
		}
		has := w.documents[a.Doc]
		if r, ok := w.store.Row(has.JobID); ok && has.JobID != a.Task.ID && held(r) && r.Fence == has.Fence &&
			time.Now().Before(r.LeaseEnds) {
			return nothing{}, &store.BusyError{JobID: has.JobID, RetryAfter: time.Until(r.LeaseEnds)}
		}
		w.documents[a.Doc] = a.Holder
		return nothing{}, nil
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// apply carries out an effect, in the store's transaction and with the world's mutex held.
func (w *world) apply(h store.Holder, e store.Effect) error {
	p, ok := e.Args.(work)
	switch {
	case !ok:
		return taskerr.Errorf(taskerr.InternalBug, "unknown effect")
	case p.Sort == vetoed:
		return taskerr.Errorf(taskerr.ValidationError, "the effect is refused")
	case p.Doc != "" && w.documents[p.Doc] != h:
		return store.ErrFenced // another job took it
	}
	delete(w.documents, p.Doc)
	w.book.effects[h.JobID] = append(w.book.effects[h.JobID], effect{h.Fence, p.N})
	return nil
}
