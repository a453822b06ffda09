package main

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (w countedStore) OpenCognee(ctx context.Context) error {
	return call0(w.c, "store.OpenCognee", func() error { return w.s.OpenCognee(ctx) })
}

func (w countedStore) CloseCognee(ctx context.Context) (int, error) {
	return call(w.c, "store.CloseCognee", func() (int, error) { return w.s.CloseCognee(ctx) })
}

func (w countedStore) ClaimCognee(ctx context.Context, c store.CogneeClaim) (store.CogneeWork, error) {
	return call(w.c, "store.ClaimCognee", func() (store.CogneeWork, error) { return w.s.ClaimCognee(ctx, c) })
}

func (w countedStore) ExtendCognee(
	ctx context.Context, held store.CogneeHeld, lease time.Duration,
) (store.CogneeKept, error) {
	return call(w.c, "store.ExtendCognee", func() (store.CogneeKept, error) {
		return w.s.ExtendCognee(ctx, held, lease)
	})
}

func (w countedStore) CogneeText(ctx context.Context, q store.CogneeTextQuery) (store.CogneeText, error) {
	return call(w.c, "store.CogneeText", func() (store.CogneeText, error) { return w.s.CogneeText(ctx, q) })
}

func (w countedStore) SettleCognee(ctx context.Context, o store.CogneeOutcome) (store.CogneeSettled, error) {
	return call(w.c, "store.SettleCognee", func() (store.CogneeSettled, error) { return w.s.SettleCognee(ctx, o) })
}

func (w countedStore) SettleCognify(ctx context.Context, o store.CognifyOutcome) (store.CogneeSettled, error) {
	return call(w.c, "store.SettleCognify", func() (store.CogneeSettled, error) { return w.s.SettleCognify(ctx, o) })
}

func (w countedStore) CogneeState(ctx context.Context) (store.CogneeState, error) {
	return call(w.c, "store.CogneeState", func() (store.CogneeState, error) { return w.s.CogneeState(ctx) })
}

func (w countedStore) RetryCognee(ctx context.Context) (store.CogneeRetried, error) {
	return call(w.c, "store.RetryCognee", func() (store.CogneeRetried, error) { return w.s.RetryCognee(ctx) })
}

func (w countedStore) CogneeIndex(ctx context.Context, after string, limit int) (store.CogneeIndex, error) {
	return call(w.c, "store.CogneeIndex", func() (store.CogneeIndex, error) {
		return w.s.CogneeIndex(ctx, after, limit)
	})
}

func (w countedStore) RequeueCognee(
	ctx context.Context, documents []store.CogneeItem, before time.Time,
) (int, error) {
	return call(w.c, "store.RequeueCognee", func() (int, error) { return w.s.RequeueCognee(ctx, documents, before) })
}

func (w countedStore) CogneeGone(ctx context.Context, ids []string) ([]string, error) {
	return call(w.c, "store.CogneeGone", func() ([]string, error) { return w.s.CogneeGone(ctx, ids) })
}
