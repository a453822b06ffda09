package cognee

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// cognify asks Cognee to work on a dataset, or how far it is, and records the answer.
func (r *round) cognify(f *flight) {
	d := f.dataset
	o := store.CognifyOutcome{CognifyHolder: store.CognifyHolder{DocumentSet: d.DocumentSet, Fence: d.Fence}}
	began := time.Now()
	var err error
	if d.Running {
		o.Outcome, err = r.progress(f.ctx, d)
	} else if o.Outcome, err = store.CognifyAsked, r.answers(f, d.Attempts); err == nil {
		err = r.Client.Cognify(f.ctx, d.DatasetID)
	}
	if errors.Is(err, errStopping) {
		r.release(f)
		return
	}
	o.Health = store.CogneeUp
	switch {
	case err != nil:
		o.CogneeHealth = store.CogneeHealth{Health: health(err), Error: err.Error()}
		if e, ok := errors.AsType[*Error](err); ok {
			o.RetryAfter = e.RetryAfter
			if e.kind == failing && e.Status > 0 { // Cognee answered; its model may be down, which adding does not need
				o.Health = ""
			}
		}
		if !is(err, down) { // the breaker says when to ask again
			o.NextAfter = doubled(6*r.FirstRetry, d.Attempts, maxRetry)
		}
		if o.Outcome == store.CognifyAsked {
			o.Outcome = store.CognifyFailed
		}
	case o.Outcome == store.CognifyAsked:
		o.NextAfter = r.pollAfter(0)
	case o.Outcome == store.CognifyRunning:
		o.NextAfter = r.pollAfter(d.RunningFor)
	}
	o.Probe, o.FirstProbe = f.probe, r.FirstProbe
	s, failed := settle(f.ctx, func(ctx context.Context) (store.CogneeSettled, error) { return r.Store.SettleCognify(ctx, o) })
	if failed != nil {
		r.unsettled(f, failed)
		return
	}
	r.observeDataset(d, o, s, time.Since(began), err)
	r.breaker(f, s, o.Error)
}

// progress asks how far Cognee is. A question without an answer is asked again, for as long as a run may take if Cognee
// answers others; a run that failed, or that Cognee does not know of, is an error.
func (r *round) progress(ctx context.Context, d *store.CogneeDataset) (string, error) {
	state, err := r.Client.status(ctx, d.DatasetID)
	switch {
	case err != nil && !is(err, missing) && !is(err, down) && d.RunningFor >= maxRun:
		if listing := r.Client.Probe(ctx); listing != nil {
			return store.CognifyRunning, outage(listing)
		}
		return store.CognifyFailed, err
	case is(err, missing):
		return store.CognifyFailed, err
	case err != nil:
		return store.CognifyRunning, err
	case state == finished:
		return store.CognifyDone, nil
	case state == running && d.RunningFor < maxRun:
		return store.CognifyRunning, nil
	case state == running:
		return store.CognifyFailed, &Error{kind: refused, what: "Cognee has not finished its work on the dataset in " + maxRun.String()}
	case state == errored:
		return store.CognifyFailed, &Error{kind: refused, what: "Cognee failed to work on the dataset; its log says more"}
	}
	return store.CognifyFailed, &Error{kind: refused, what: "Cognee knows of no work on the dataset"}
}

// pollAfter is the wait until the next question for a run that has taken so long.
func (r *round) pollAfter(runningFor time.Duration) time.Duration {
	return max(min(runningFor/10, maxPoll), min(r.FirstProbe, 2*time.Second))
}

// observeDataset logs and counts a request about a dataset.
func (r *round) observeDataset(
	d *store.CogneeDataset, o store.CognifyOutcome, s store.CogneeSettled, took time.Duration, err error,
) {
	log := r.Log.With("document_set", d.DocumentSet)
	switch o.Outcome {
	case store.CognifyRunning:
		return
	case store.CognifyFailed:
		log.Warn("Cognee has not worked a document set into its graph", "error", err, "attempts", d.Attempts+1,
			"given_up", s.Status == store.CognifyFailed)
	default:
		log.Debug("Cognee works on a document set", "outcome", o.Outcome, "changes", d.Changes)
	}
	r.Observe(Observation{Cognify: o.Outcome, Took: took})
}
