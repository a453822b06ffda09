package main

import (
	"context"
	"iter"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (w countedStore) DocumentAt(ctx context.Context, documentSet, name string) (string, error) {
	return call(w.c, "store.DocumentAt", func() (string, error) { return w.s.DocumentAt(ctx, documentSet, name) })
}

func (w countedStore) CompareBlobs(ctx context.Context, q store.BlobComparison) ([]store.ComparedBlob, error) {
	return call(w.c, "store.CompareBlobs", func() ([]store.ComparedBlob, error) { return w.s.CompareBlobs(ctx, q) })
}

func (w countedStore) DocumentsUnder(ctx context.Context, q store.UnderQuery) (store.UnderPage, error) {
	return call(w.c, "store.DocumentsUnder", func() (store.UnderPage, error) { return w.s.DocumentsUnder(ctx, q) })
}

func (w countedStore) SubmitChildren(
	ctx context.Context, h store.Holder, children []store.Submission,
) (map[string]time.Time, error) {
	return call(w.c, "store.SubmitChildren", func() (map[string]time.Time, error) { return w.s.SubmitChildren(ctx, h, children) })
}

func (w countedBucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Properties, error] {
	return w.b.List(ctx, prefix)
}

func (w countedStore) ExpireEvents(ctx context.Context, q store.EventExpiry) (store.ExpiredEvents, error) {
	return call(w.c, "store.ExpireEvents", func() (store.ExpiredEvents, error) { return w.s.ExpireEvents(ctx, q) })
}

func (w countedStore) ExpireDeliveries(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return call(w.c, "store.ExpireDeliveries", func() (int, error) { return w.s.ExpireDeliveries(ctx, keep, limit) })
}

func (w countedStore) ExpireJobs(ctx context.Context, q store.JobExpiry) (store.ExpiredJobs, error) {
	return call(w.c, "store.ExpireJobs", func() (store.ExpiredJobs, error) { return w.s.ExpireJobs(ctx, q) })
}
