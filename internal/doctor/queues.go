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

// hidden is how long the doctor's own message can't be seen: by then it is deleted.
const hidden = 5 * time.Minute

// probeText is no task: a worker that ever received it would reject it, and change nothing.
const probeText = `{"doctor":"a probe that expires by itself"}`

// visit is what was seen of one queue: an error for each right that was tried, and why others were not.
type visit struct {
	name    string
	absent  bool
	tried   map[string]error
	skipped map[string]string
	waiting int
}

// queueChecks are the checks, with the right that each of them tries.
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

func queues(ctx context.Context, p *Patient) []Result {
	all, err := p.Queues(ctx)
	if err != nil {
		return append([]Result{failed("queue metadata", err, "")},
			skipped(Queues, "the account can't be opened")[1:]...)
	}
	visits := make([]visit, len(all))
	var wg sync.WaitGroup
	for i, q := range all {
		wg.Go(func() { visits[i] = p.visit(ctx, q) })
	}
	wg.Wait()
	var results []Result
	for _, c := range queueChecks() {
		results = append(results, p.sumUp(c.name, c.right, visits))
	}
	return results
}

// visit tries every right on one queue. What would leave something behind comes only after what removes it.
func (p *Patient) visit(ctx context.Context, q queue.Probing) visit {
	v := visit{name: q.Name(), tried: map[string]error{}, skipped: map[string]string{}}
	v.tried["queue metadata"] = p.within(ctx, func(ctx context.Context) (err error) {
		v.waiting, err = q.Depth(ctx)
		return err
	})
	v.absent = errors.Is(v.tried["queue metadata"], queue.ErrNotFound)
	if err := v.tried["queue metadata"]; err != nil && !v.absent && !denied(err) {
		return v // nothing of the account answers: one error says it
	}
	if v.absent && p.NoCreate {
		return v
	}
	v.tried["queue create"] = p.within(ctx, q.Create)
	if v.absent && v.tried["queue create"] != nil {
		return v
	}
	if v.absent {
		v.absent, v.tried["queue metadata"] = false, p.within(ctx,
			func(ctx context.Context) error { _, err := q.Depth(ctx); return err })
	}
	p.look(ctx, q, &v)
	p.put(ctx, q, &v)
	return v
}

// look peeks, and receives where there is nothing to receive.
func (p *Patient) look(ctx context.Context, q queue.Probing, v *visit) {
	var seen int
	v.tried["queue peek"] = p.within(ctx, func(ctx context.Context) error {
		peeked, err := q.Peek(ctx, 1)
		seen = len(peeked)
		return err
	})
	blind := v.tried["queue peek"] != nil && v.tried["queue metadata"] != nil
	switch {
	case p.Take: // whatever waits
	case blind:
		v.skipped["queue receive"] = "whether tasks wait can't be seen, and one would be hidden"
		return
	case seen > 0 || v.tried["queue peek"] != nil && v.waiting > 0:
		v.skipped["queue receive"] = "tasks wait, and one would be hidden (--take does it)"
		return
	}
	v.tried["queue receive"] = p.within(ctx, func(ctx context.Context) error {
		messages, err := q.Receive(ctx, 1, time.Second)
		for _, m := range messages { // it came in this moment, or Take asks for it
			err = errors.Join(err, m.Lease.Release(ctx, 0))
		}
		return err
	})
}

// put sends a message that nobody sees, updates and deletes it: all of that for sure. Nothing is sent unless it can be
// deleted.
func (p *Patient) put(ctx context.Context, q queue.Probing, v *visit) {
	v.tried["queue update"] = p.within(ctx, func(ctx context.Context) error {
		return unlessLost(q.Phantom().Extend(ctx, time.Second))
	})
	v.tried["queue delete"] = p.within(ctx,
		func(ctx context.Context) error { return unlessLost(q.Phantom().Delete(ctx)) })
	if v.tried["queue delete"] != nil {
		v.skipped["queue put"] = "nothing is put that can't be deleted"
		return
	}
	var lease queue.Lease
	v.tried["queue put"] = p.within(ctx, func(ctx context.Context) (err error) {
		lease, err = q.SendHidden(ctx, probeText, hidden)
		return err
	})
	if v.tried["queue put"] != nil {
		return
	}
	if v.tried["queue update"] == nil {
		v.tried["queue update"] = p.within(ctx, func(ctx context.Context) error { return lease.Extend(ctx, hidden/2) })
	}
	// Also after an interruption: the message is the doctor's to remove.
	v.tried["queue delete"] = p.within(context.WithoutCancel(ctx), lease.Delete)
}

// unlessLost is what a phantom's error says: that it doesn't exist is the answer to one who may ask.
func unlessLost(err error) error {
	if errors.Is(err, queue.ErrLeaseLost) {
		return nil
	}
	return err
}

// sumUp makes one result of what was seen of all queues.
func (p *Patient) sumUp(check string, right azure.Right, visits []visit) Result {
	var fine, absent []string
	var left []string
	for _, v := range visits {
		err, tried := v.tried[check]
		switch {
		case v.absent && (check == "queue metadata" || !tried):
			absent = append(absent, v.name)
		case err != nil:
			return p.refused(check, right, v.name, err)
		case tried:
			fine = append(fine, v.name)
		case v.skipped[check] != "":
			left = append(left, v.name+": "+v.skipped[check])
		}
	}
	switch {
	case len(absent) > 0 && check == "queue metadata":
		return Result{
			Check: check, State: Warn, Seen: strings.Join(absent, ", ") + " does not exist",
			Mend: "the worker creates it at its start; or leave out --no-create",
		}
	case len(fine) == 0 && len(left) == 0:
		return Result{
			Check: check, State: Skipped, Seen: "there is no queue to try it on, or the account does not answer",
		}
	case len(fine) == 0:
		return Result{Check: check, State: Skipped, Seen: strings.Join(left, "; ")}
	case len(left) > 0:
		return ok(check, "%d of %d queues; %s", len(fine), len(visits), strings.Join(left, "; "))
	}
	return ok(check, "%d of %d queues", len(fine), len(visits))
}

// refused is the result of a request to the storage account that failed.
func (p *Patient) refused(check string, right azure.Right, on string, err error) Result {
	r := failed(check, err, "")
	if r.Seen == "" || !strings.Contains(r.Seen, on) {
		r.Seen = fmt.Sprintf("%s: %s", on, r.Seen)
	}
	if problem, is := errors.AsType[*azure.Problem](err); is && problem.Kind == azure.Permission {
		r.Mend = "the worker can't " + right.Doing + ": " + p.Grant(right, on)
		if problem.Hint != "" && problem.Code != "AuthorizationPermissionMismatch" {
			r.Mend = problem.Hint
		}
		if right.Optional {
			r.State, r.Class = Warn, None
			if right == azure.BlobDelete {
				r.Mend += "; all but tasks that purge works without it"
			} else {
				r.Mend += "; or create them for it: the worker is content with what exists"
			}
		}
	}
	return r
}
