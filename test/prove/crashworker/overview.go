package main

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (w countedStore) Outcomes(ctx context.Context, windows []store.Window, most int) ([]store.Outcomes, error) {
	return call(w.c, "store.Outcomes", func() ([]store.Outcomes, error) { return w.s.Outcomes(ctx, windows, most) })
}

func (w countedStore) Overview(ctx context.Context, within time.Duration, most int) (store.Overview, error) {
	return call(w.c, "store.Overview", func() (store.Overview, error) { return w.s.Overview(ctx, within, most) })
}

func (w countedStore) FindJobs(ctx context.Context, q store.JobQuery) (store.FoundJobs, error) {
	return call(w.c, "store.FindJobs", func() (store.FoundJobs, error) { return w.s.FindJobs(ctx, q) })
}

func (w countedStore) JobCounts(ctx context.Context, most int) ([]store.StatusCount, error) {
	return call(w.c, "store.JobCounts", func() ([]store.StatusCount, error) { return w.s.JobCounts(ctx, most) })
}

func (w countedStore) JobContext(ctx context.Context, id string) (store.JobContext, error) {
	return call(w.c, "store.JobContext", func() (store.JobContext, error) { return w.s.JobContext(ctx, id) })
}

func (w countedStore) LetterGroups(ctx context.Context, most int) (store.LetterGroups, error) {
	return call(w.c, "store.LetterGroups", func() (store.LetterGroups, error) { return w.s.LetterGroups(ctx, most) })
}

func (w countedStore) DocumentSets(ctx context.Context, most int) ([]store.DocumentSet, error) {
	return call(w.c, "store.DocumentSets", func() ([]store.DocumentSet, error) { return w.s.DocumentSets(ctx, most) })
}

func (w countedStore) DocumentVersions(ctx context.Context, id string) ([]store.DocumentVersion, error) {
	return call(w.c, "store.DocumentVersions",
		func() ([]store.DocumentVersion, error) { return w.s.DocumentVersions(ctx, id) })
}
