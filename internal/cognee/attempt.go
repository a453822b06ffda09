package cognee

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const chunksPerRead = 200

// document makes one attempt at a document, and records what came of it.
func (r *round) document(f *flight) {
	d := f.document
	o := store.CogneeOutcome{
		CogneeLease: store.CogneeLease{DocumentID: d.DocumentID, Fence: d.Fence}, Version: d.Version,
	}
	began := time.Now()
	err := r.answers(f, d.Attempts)
	switch {
	case err != nil: // nothing was sent
	case d.Version == 0:
		var listed bool
		if listed, err = r.forget(f.ctx, d); !listed {
			o.Unlisted = r.Unlisted
		}
		o.Outcome = store.CogneeForgotten
	default:
		var placed Placed
		placed, err = r.put(f.ctx, d)
		o.Outcome, o.DataID, o.DatasetID = store.CogneeSent, placed.DataID, placed.DatasetID
		o.Changed = !placed.Unchanged || !d.InGraph
	}
	took := time.Since(began)
	switch {
	case err == nil:
		o.Health = store.CogneeUp
	case errors.Is(err, errReplaced):
		o.Outcome = store.CogneeReplaced
	case errors.Is(err, errStopping):
		r.release(f)
		return
	default:
		o.Outcome, o.NextAfter = store.CogneeRetry, doubled(r.FirstRetry, d.Attempts, maxRetry)
		o.CogneeHealth = store.CogneeHealth{Health: health(err), Error: err.Error()}
		if e, ok := errors.AsType[*Error](err); ok {
			o.ResponseStatus, o.RetryAfter = e.Status, e.RetryAfter
			o.NextAfter = max(o.NextAfter, min(e.RetryAfter, time.Hour))
		}
		if is(err, refused) {
			o.Outcome = store.CogneeRefused
		}
	}
	o.Probe, o.FirstProbe = f.probe, r.FirstProbe
	s, failed := settle(f.ctx, func(ctx context.Context) (store.CogneeSettled, error) { return r.Store.SettleCognee(ctx, o) })
	if failed != nil {
		r.unsettled(f, failed)
		return
	}
	r.observeDocument(d, o, s, took, err)
	r.breaker(f, s, o.Error)
}

// answers returns the error of an outage if Cognee does not list its datasets now. It does not ask before a first attempt that
// is no probe. So a further attempt, or a probe, counts only if Cognee answered just before.
func (r *round) answers(f *flight, attempts int) error {
	if attempts == 0 && !f.probe {
		return nil
	}
	return outage(r.Client.Probe(f.ctx))
}

// put sends a version. Its text is read from the store while it is being sent.
func (r *round) put(ctx context.Context, d *store.CogneeDocument) (Placed, error) {
	return r.Client.Put(ctx, Document{
		ID: d.DocumentID, Dataset: DatasetName(r.ClientID, d.DocumentSet), DocumentSet: d.DocumentSet,
		Filename: d.Filename, Version: d.Version, Pages: d.Pages, SHA256: d.ContentSHA256, DataID: d.DataID,
		DatasetID: d.DatasetID, InGraph: d.InGraph,
		Text: func(ctx context.Context, w io.Writer) error { return r.text(ctx, w, d) },
	})
}

// text writes the chunks of a version, a page of them at a time.
func (r *round) text(ctx context.Context, w io.Writer, d *store.CogneeDocument) error {
	for from := 0; ; from += chunksPerRead {
		page, err := r.Store.CogneeText(ctx, store.CogneeTextQuery{
			DocumentID: d.DocumentID, Version: d.Version, From: from, Limit: chunksPerRead,
		})
		switch {
		case err != nil:
			return err
		case !page.Active:
			return errReplaced
		}
		for _, chunk := range page.Chunks {
			if _, err := io.WriteString(w, chunk+"\n\n"); err != nil {
				return err
			}
		}
		if len(page.Chunks) < chunksPerRead {
			return nil
		}
	}
}

// forget removes a document. If an answer was lost, only our own name for it is known; listed: Cognee had it.
func (r *round) forget(ctx context.Context, d *store.CogneeDocument) (listed bool, err error) {
	if d.DataID != "" && d.DatasetID != "" {
		return true, r.Client.Forget(ctx, d.DatasetID, d.DataID)
	}
	return r.Client.ForgetDocument(ctx, DatasetName(r.ClientID, d.DocumentSet), d.DocumentID)
}

// doubled is the wait after so many failures before this one.
func doubled(first time.Duration, failures int, most time.Duration) time.Duration {
	wait := first
	for range min(failures, 40) {
		wait = min(2*wait, most)
	}
	return retry.Jitter(wait, 0.2)
}

// settle records a result and tries for as long as the lease lasts: what is not recorded is sent again. A shutdown does
// not interrupt it, but the end of its grace leaves one try.
func settle(ctx context.Context, record func(context.Context) (store.CogneeSettled, error)) (store.CogneeSettled, error) {
	policy := retry.Policy{
		Backoff:   retry.Backoff{First: 200 * time.Millisecond, Max: 2 * time.Second, Jitter: 0.5},
		Retryable: func(err error) bool { return !errors.Is(err, store.ErrCogneeLost) && ctx.Err() == nil },
	}
	return retry.Do(context.WithoutCancel(ctx), policy, func() (store.CogneeSettled, error) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeCall)
		defer cancel()
		return record(bounded)
	})
}

// release gives work back whose request did not end within the grace of a shutdown. It may be sent again, which changes
// nothing.
func (r *round) release(f *flight) {
	var held store.CogneeHeld
	if f.document != nil {
		held.Documents = []store.CogneeLease{{DocumentID: f.document.DocumentID, Fence: f.document.Fence}}
	} else {
		held.Datasets = []store.CognifyHolder{{DocumentSet: f.dataset.DocumentSet, Fence: f.dataset.Fence}}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), storeCall)
	defer cancel()
	if _, err := r.Store.ExtendCognee(ctx, held, 0); err != nil {
		r.Log.Debug("the claim of a document for Cognee ends by itself", "error", err)
	}
}

// unsettled reports a result that could not be recorded.
func (r *round) unsettled(f *flight, err error) {
	f.again = r.Lease
	log := r.Log
	if f.document != nil {
		log = log.With("document", f.document.DocumentID)
	}
	log.Warn("what Cognee did could not be recorded; it will be asked again, which changes nothing", "error", err)
}

// observeDocument logs and counts an attempt.
func (r *round) observeDocument(
	d *store.CogneeDocument, o store.CogneeOutcome, s store.CogneeSettled, took time.Duration, err error,
) {
	outcome := o.Outcome
	if outcome == store.CogneeRetry && s.Status == store.CogneeFailed {
		outcome = store.CogneeFailed
	}
	r.Observe(Observation{Outcome: outcome, Took: took})
	log := r.Log.With("document", d.DocumentID, "version", d.Version)
	switch outcome {
	case store.CogneeRefused, store.CogneeFailed:
		log.Error("Cognee does not take a document; it is left out until its next version, or async-worker cognee retry",
			"error", err, event.Key, event.CogneeRefused)
	case store.CogneeRetry:
		log.Debug("a document will be sent to Cognee again", "error", err, "attempts", d.Attempts+1)
	default:
		log.Debug("Cognee has a document", "outcome", outcome, "took", took.String())
	}
}

// breaker logs the beginning and the end of an outage, and plans when to look at the outbox again.
func (r *round) breaker(f *flight, s store.CogneeSettled, reason string) {
	switch {
	case s.Began:
		r.Log.Warn("Cognee is down; documents for it wait in the database", "error", reason, "settings",
			"COGNEE_URL, COGNEE_API_KEY", event.Key, event.CogneeDown)
	case s.Ended:
		r.Log.Info("Cognee is up again", "after", s.DownFor.Round(time.Second).String(), event.Key, event.CogneeUp)
	}
	if s.Down {
		f.again = s.Probe
	}
}
