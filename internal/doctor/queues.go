package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/queue"
)

// hidden is how long the doctor's own message is invisible: by then it has been deleted.
const hidden = 5 * time.Minute

// probeText is not a task: a worker that received it would reject it and change nothing.
const probeText = `{"doctor":"a probe that expires by itself"}`

// visit is the results of one queue: an error for each right that was tried, and why others were not.
type visit struct {
	name    string
	absent  bool
	tried   map[string]error
	skipped map[string]string
	waiting int
	spared  bool // it exists, and the worker does without the right to create it
}

// queueChecks returns the checks with the rights that they try.
func queueChecks() []struct {
	name  string
	right azure.Right
} {
	return []struct {
		name  string
		right azure.Right
	}{
		{"queue metadata", azure.QueueMetadata},
		{"queue create", azure.QueueCreate},
		{"queue peek", azure.QueuePeek},
		{"queue receive", azure.QueueReceive},
		{"queue update", azure.QueueUpdate},
		{"queue delete", azure.QueueDelete},
		{"queue put", azure.QueuePut},
	}
}

func queues(ctx context.Context, w *Worker) []Result {
	all, err := w.Queues(ctx)
	if err != nil {
		return append([]Result{failed("queue metadata", err, "")},
			skipped(Queues, "the account can't be opened")[1:]...)
	}
	visits := make([]visit, len(all))
	var wg sync.WaitGroup
	for i, q := range all {
		wg.Go(func() { visits[i] = w.visit(ctx, q) })
	}
	wg.Wait()
	var results []Result
	for _, c := range queueChecks() {
		results = append(results, w.sumUp(c.name, c.right, visits))
	}
	return results
}

// visit tries every right on one queue. It writes only after it has tried the right to delete.
func (w *Worker) visit(ctx context.Context, q queue.Probing) visit {
	v := visit{name: q.Name(), tried: map[string]error{}, skipped: map[string]string{}}
	v.tried["queue metadata"] = w.within(ctx, func(ctx context.Context) (err error) {
		v.waiting, err = q.Depth(ctx)
		return err
	})
	v.absent = errors.Is(v.tried["queue metadata"], queue.ErrNotFound)
	if err := v.tried["queue metadata"]; errors.Is(err, queue.ErrLogin) || err != nil && !v.absent && !denied(err) {
		return v // the account does not answer, or to nobody with this login: one error is enough
	}
	if v.absent && w.NoCreate {
		return v
	}
	v.tried["queue create"] = w.within(ctx, q.Create)
	if v.absent && v.tried["queue create"] != nil {
		return v
	}
	if errors.Is(v.tried["queue create"], queue.ErrDenied) {
		v.spared = w.within(ctx, q.Ensure) == nil // as at the worker's start
	}
	if v.absent {
		v.absent, v.tried["queue metadata"] = false, w.within(ctx,
			func(ctx context.Context) error { _, err := q.Depth(ctx); return err })
	}
	w.look(ctx, q, &v)
	w.put(ctx, q, &v)
	return v
}

// look peeks, and receives if nothing is waiting.
func (w *Worker) look(ctx context.Context, q queue.Probing, v *visit) {
	var seen int
	v.tried["queue peek"] = w.within(ctx, func(ctx context.Context) error {
		peeked, err := q.Peek(ctx, 1)
		seen = len(peeked)
		return err
	})
	blind := v.tried["queue peek"] != nil && v.tried["queue metadata"] != nil
	switch {
	case w.Take: // whatever waits
	case blind:
		v.skipped["queue receive"] = "it can't be seen whether tasks wait, and receiving would hide one"
		return
	case seen > 0 || v.tried["queue peek"] != nil && v.waiting > 0:
		v.skipped["queue receive"] = "tasks wait, and receiving would hide one (--take does it)"
		return
	}
	v.tried["queue receive"] = w.within(ctx, func(ctx context.Context) error {
		messages, err := q.Receive(ctx, 1, time.Second)
		for _, m := range messages { // it arrived just now, or Take is set
			err = errors.Join(err, m.Lease.Release(ctx, 0))
		}
		return err
	})
}

// put sends a hidden message, updates it and deletes it. It sends nothing unless it may delete.
func (w *Worker) put(ctx context.Context, q queue.Probing, v *visit) {
	v.tried["queue update"] = w.within(ctx, func(ctx context.Context) error {
		return unlessLost(q.Phantom().Extend(ctx, time.Second))
	})
	v.tried["queue delete"] = w.within(ctx,
		func(ctx context.Context) error { return unlessLost(q.Phantom().Delete(ctx)) })
	if v.tried["queue delete"] != nil {
		v.skipped["queue put"] = "a message that can't be deleted is not sent"
		return
	}
	var lease queue.Lease
	v.tried["queue put"] = w.within(ctx, func(ctx context.Context) (err error) {
		lease, err = q.SendHidden(ctx, probeText, hidden)
		return err
	})
	if v.tried["queue put"] != nil {
		return
	}
	if v.tried["queue update"] == nil {
		v.tried["queue update"] = w.within(ctx, func(ctx context.Context) error { return lease.Extend(ctx, hidden/2) })
	}
	// Also after an interruption: the doctor must remove its message.
	v.tried["queue delete"] = w.within(context.WithoutCancel(ctx), lease.Delete)
}

// unlessLost turns ErrLeaseLost of a phantom into success: the request was allowed.
func unlessLost(err error) error {
	if errors.Is(err, queue.ErrLeaseLost) {
		return nil
	}
	return err
}

// sumUp combines the results of all queues into one.
func (w *Worker) sumUp(check string, right azure.Right, visits []visit) Result {
	var fine, absent []string
	var left []string
	var spared *Result // a right is missing that the worker does without
	for _, v := range visits {
		err, tried := v.tried[check]
		switch {
		case v.absent && (check == "queue metadata" || !tried):
			absent = append(absent, v.name)
		case err != nil:
			r := w.refused(check, right, v.name, err)
			if check != "queue create" || !v.spared {
				return r
			}
			spared = &Result{
				Check: "queue create", State: Warn, Seen: r.Seen,
				Remedy: r.Remedy + "; a queue that exists needs no such right",
			}
		case tried:
			fine = append(fine, v.name)
		case v.skipped[check] != "":
			left = append(left, v.name+": "+v.skipped[check])
		}
	}
	switch {
	case len(absent) > 0 && check == "queue metadata":
		return Result{
			Check: "queue metadata", State: Warn, Seen: strings.Join(absent, ", ") + " does not exist",
			Remedy: "the worker creates it at its start; or leave out --no-create",
		}
	case spared != nil:
		return *spared
	case len(fine) == 0 && len(left) == 0:
		return Result{
			Check: check, State: Skipped,
			Seen: "there is no queue to try it on, or their service does not answer or refuses the login",
		}
	case len(fine) == 0:
		return Result{Check: check, State: Skipped, Seen: strings.Join(left, "; ")}
	case len(left) > 0:
		return ok(check, "%d of %d queues; %s", len(fine), len(visits), strings.Join(left, "; "))
	}
	return ok(check, "%d of %d queues", len(fine), len(visits))
}

// refused returns the result of a request that the service rejected.
func (w *Worker) refused(check string, right azure.Right, on string, err error) Result {
	r := failed(check, err, "")
	if r.Seen == "" || !strings.Contains(r.Seen, on) {
		r.Seen = fmt.Sprintf("%s: %s", on, r.Seen)
	}
	problem, is := errors.AsType[*azure.Problem](err)
	switch {
	case errors.Is(err, queue.ErrLogin):
		return Result{
			Check: check, State: Fail, Class: Permission, Seen: r.Seen,
			Remedy: "give the worker a login that the server knows, with its password, and reload the server if it is new",
		}
	case denied(err):
		r = Result{
			Check: check, State: Fail, Class: Permission, Seen: r.Seen,
			Remedy: "the worker can't " + right.Doing + ": " + w.Grant(right, on),
		}
	}
	if is && problem.Kind == azure.Permission {
		if problem.Hint != "" && problem.Code != "AuthorizationPermissionMismatch" {
			r.Remedy = problem.Hint
		}
		if right.Without != "" {
			r.State, r.Class = Warn, None
			r.Remedy += "; " + right.Without
		}
	}
	return r
}
