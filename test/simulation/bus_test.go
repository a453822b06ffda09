package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// fault happens to one call of a back end.
type fault string

const (
	none        fault = ""
	errorBefore fault = "error before" // not carried out
	errorAfter  fault = "error after"  // carried out, the answer lost
	hangs       fault = "hangs"        // no answer until the caller gives up
	hangsAfter  fault = "hangs after"  // the same, though it was carried out
	delays      fault = "delays"       // carried out late
	delaysAfter fault = "delays after" // answered late
	// carried out two times, the second answer counts: a proxy repeats the request
	twice    fault = "twice"
	early    fault = "early"    // of a message's lease: it ends before its time, by the queue's clock
	shuffled fault = "shuffled" // of messages: they come in another order, or a while later
	vanishes fault = "vanishes" // of the message of a job that has begun: the queue loses it
)

// faults are those of single calls.
var faults = []fault{errorBefore, errorAfter, hangs, hangsAfter, delays, delaysAfter, twice, early, shuffled, vanishes}

// appliesTo reports whether a fault can happen to a call; some happen to a few calls only.
func (f fault) appliesTo(op string) bool {
	switch f {
	case early:
		return op == "receive" || op == "extend" || op == "put back"
	case shuffled:
		return op == "receive" || op == "send"
	case vanishes:
		return op == "extend" || op == "put back"
	}
	return true
}

// The back ends.
const (
	onStore  = "store"
	onQueue  = "queue"
	onModel  = "model"
	onBucket = "bucket"
)

// longest is how long a call hangs if its caller doesn't give up: connections have timeouts of their own.
const longest = time.Minute

// errGone is the error of all calls of a process that has ended. It is not retryable.
var errGone = errors.New("the process has ended")

// faultyCall is a call and its fault.
type faultyCall struct {
	backend, op, key string
	fault            fault
	drawer                // of what else is drawn for the call
	last             bool // the process ends with it
}

// next counts a call and draws its fault from the seed, the process, and the number of the call of its kind: calls
// of other goroutines don't change it.
func (l *line) next(backend, op, key string) *faultyCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := op + " " + key
	l.nth[what]++
	m := &faultyCall{backend: backend, op: op, key: key}
	if l.left > 0 {
		l.left--
		m.last = l.left == 0
	}
	m.drawer = drawer{rand.New(rand.NewPCG(l.w.seed^hashed(l.name), hashed(what)+l.nth[what]))}
	if m.fault = l.w.draw(backend, op, m.drawer); m.fault != none {
		l.faulted = true
		l.w.tally.add(&l.w.tally.faults, string(m.fault))
	}
	return m
}

// hashed is FNV-1a.
func hashed(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// draw draws a fault: that of the back end's outage, or one of a single call.
func (w *world) draw(backend, op string, d drawer) fault {
	at := time.Since(w.began)
	if at >= w.plan.active {
		return none
	}
	for _, o := range w.plan.outages {
		if o.backend == backend && at >= o.after && at < o.after+o.lasts {
			return o.how
		}
	}
	n := d.IntN(1000)
	for _, f := range faults {
		if n -= w.plan.odds[f]; n < 0 && f.appliesTo(op) {
			return f
		}
	}
	return none
}

// carry makes a call to its back end with its faults, and returns the answer.
func carry[T any](
	ctx context.Context, l *line, backend, op, key string, call func(context.Context, *faultyCall) (T, error),
) (T, error) {
	var nothing T
	stopped := l.thaw()
	if l.dead() {
		return nothing, errGone
	}
	m := l.next(backend, op, key)
	if stopped && m.chance(50) { // the request was sent before the process was stopped, or just before its deadline
		ctx = context.WithoutCancel(ctx)
	}
	answer, err := deliver(ctx, l, m, call)
	l.w.note(l.name, key, op, m.fault, err)
	if m.last {
		l.crash()
	}
	if l.thaw() && ctx.Err() != nil && m.chance(50) { // which was first, the answer or its deadline?
		return nothing, lost(backend, ctx.Err())
	}
	if l.dead() {
		return nothing, errGone
	}
	return answer, err
}

func deliver[T any](
	ctx context.Context, l *line, m *faultyCall, call func(context.Context, *faultyCall) (T, error),
) (T, error) {
	var nothing T
	switch m.fault {
	case errorBefore:
		return nothing, down(m)
	case hangs:
		return nothing, lost(m.backend, l.hang(ctx, longest))
	case delays:
		err := l.hang(ctx, m.short(0, longest))
		if l.dead() || (err != nil && m.chance(50)) { // the request is lost, or arrives nevertheless
			return nothing, lost(m.backend, err)
		}
		ctx = context.WithoutCancel(ctx)
	case twice:
		_, _ = call(ctx, m)
	}
	answer, err := call(ctx, m)
	switch m.fault {
	case errorAfter:
		return nothing, lost(m.backend, nil)
	case hangsAfter:
		return nothing, lost(m.backend, l.hang(ctx, longest))
	case delaysAfter:
		if late := l.hang(ctx, m.short(0, longest)); late != nil {
			return nothing, lost(m.backend, late)
		}
	}
	return answer, err
}

// hang waits; it returns an error when the caller gave up.
func (l *line) hang(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-l.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// down is the error of a back end that did nothing.
func down(m *faultyCall) error {
	switch m.backend {
	case onModel:
		return &taskerr.Error{
			Class: taskerr.ModelOverloaded, Message: "the model is down", Dependency: taskerr.Model,
			RetryAfter: m.short(0, time.Minute),
		}
	case onStore:
		return &taskerr.Error{
			Class: taskerr.TransientStorage, Message: "the database is down", Dependency: taskerr.Database,
		}
	default:
		return &taskerr.Error{Class: taskerr.TransientStorage, Message: "the storage account is down"}
	}
}

// lost is the error of a call whose answer was lost.
func lost(backend string, why error) error {
	err := down(&faultyCall{backend: backend, drawer: newDrawer(0)})
	if why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	}
	if backend == onQueue {
		err = errors.Join(err, queue.ErrUncertain)
	}
	return err
}
