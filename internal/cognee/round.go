package cognee

import (
	"context"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// claimWaits are between claims that fail.
var claimWaits = retry.Backoff{First: time.Second, Max: 30 * time.Second, Jitter: 0.25}

// round is the state of one Run. Only Run's goroutine uses it; requests report through done.
type round struct {
	Config
	requests context.Context // of requests and their records; outlives Run's by the grace
	done     chan *flight    // holds as many as can run, so that no request waits to report
	flying   map[*flight]bool

	extending bool // leases are being renewed; kept gets the answer
	kept      chan renewal

	looked  time.Time // when the outbox was last looked at
	next    time.Time // when to look again at the latest
	failing bool      // the store did not answer the last claim
	waits   *retry.Waits
}

// flight is claimed work that is under way.
type flight struct {
	document *store.CogneeDocument // nil: it is a dataset
	dataset  *store.CogneeDataset
	probe    bool
	ctx      context.Context // ends with the lease, by the local monotonic clock
	lapse    *time.Timer     // ends ctx
	end      context.CancelCauseFunc
	again    time.Duration // when it is done: until there may be more to do
}

// advance claims as much as there is room for, and returns how long to wait for the next event.
func (r *round) advance(ctx context.Context) time.Duration {
	for len(r.flying) < r.Concurrency && !time.Now().Before(r.next) && ctx.Err() == nil {
		r.claim(ctx)
	}
	if len(r.flying) >= r.Concurrency {
		return r.Poll // a request that ends makes room before that
	}
	return max(0, time.Until(r.next))
}

// claim claims once. It leaves next in the past if more may be due.
func (r *round) claim(ctx context.Context) {
	room := r.Concurrency - len(r.flying)
	start := time.Now()
	// A claim that is cut off may have been executed, and would hide its documents for a whole lease.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeCall)
	work, err := r.Store.ClaimCognee(bounded, store.CogneeClaim{
		Worker: r.Worker, Max: room, Lease: r.Lease, Quiet: r.Quiet, Gather: r.Gather,
	})
	cancel()
	r.looked = time.Now()
	if err != nil {
		if !r.failing {
			r.Log.Warn("the outbox for Cognee can't be read from the database; it will be sent later", "error", err)
		}
		r.failing = true
		r.next = r.looked.Add(r.waits.Next())
		return
	}
	r.failing = false
	r.waits.Reset()
	for i := range work.Documents {
		r.start(&flight{document: &work.Documents[i], probe: work.Down}, start)
	}
	for i := range work.Datasets {
		r.start(&flight{dataset: &work.Datasets[i], probe: work.Down}, start)
	}
	if len(work.Documents)+len(work.Datasets) >= room && !work.Down {
		return // there may be more
	}
	r.next = r.looked.Add(retry.Jitter(r.Poll, 0.25))
	if work.Next > 0 {
		r.sooner(work.Next)
	}
}

// sooner looks at the outbox after wait, if that is earlier than planned. After a claim that failed it is not.
func (r *round) sooner(wait time.Duration) {
	if at := time.Now().Add(wait); at.Before(r.next) && !r.failing {
		r.next = at
	}
}

func (r *round) start(f *flight, claimed time.Time) {
	f.ctx, f.end = context.WithCancelCause(r.requests)
	f.lapse = time.AfterFunc(time.Until(claimed.Add(r.Lease)), func() { f.end(errLapsed) })
	r.flying[f] = true
	go func() {
		if f.document != nil {
			r.document(f)
		} else {
			r.cognify(f)
		}
		r.done <- f
	}()
}

// finish removes what has ended. Other work may wait for it: cognify for the last document of its set.
func (r *round) finish(f *flight) {
	f.lapse.Stop()
	f.end(nil)
	delete(r.flying, f)
	r.sooner(f.again)
}

// renewal is the answer to a renewal of leases.
type renewal struct {
	asked []*flight
	at    time.Time
	kept  store.CogneeKept
	err   error
}

// extend renews the leases of all that is under way, in the background.
func (r *round) extend() {
	if r.extending || len(r.flying) == 0 {
		return
	}
	var held store.CogneeHeld
	asked := renewal{at: time.Now()}
	for f := range r.flying {
		asked.asked = append(asked.asked, f)
		held.Probe = held.Probe || f.probe
		if f.document != nil {
			held.Documents = append(held.Documents, store.CogneeLease{
				DocumentID: f.document.DocumentID, Fence: f.document.Fence,
			})
		} else {
			held.Datasets = append(held.Datasets, store.CognifyHolder{
				DocumentSet: f.dataset.DocumentSet, Fence: f.dataset.Fence,
			})
		}
	}
	r.extending = true
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.requests), r.Lease/3)
		defer cancel()
		asked.kept, asked.err = r.Store.ExtendCognee(ctx, held, r.Lease)
		r.kept <- asked
	}()
}

// keep ends the requests whose lease was lost; the others may go on. Without an answer a lease ends by itself.
func (r *round) keep(of renewal) {
	r.extending = false
	if of.err != nil {
		r.Log.Warn("can't renew the claims of documents for Cognee", "error", of.err)
		return
	}
	for _, f := range of.asked {
		held := f.document != nil && slices.Contains(of.kept.Documents, f.document.DocumentID) ||
			f.dataset != nil && slices.Contains(of.kept.Datasets, f.dataset.DocumentSet)
		switch {
		case !r.flying[f]: // it has ended meanwhile
		case !held:
			f.end(errLapsed)
		case f.ctx.Err() == nil:
			f.lapse.Reset(time.Until(of.at.Add(r.Lease)))
		}
	}
}
