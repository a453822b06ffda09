package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// maxVersions is how many versions of a document are read.
const maxVersions = 50

type mostArg struct {
	Most int `json:"most"`
}

func (c *client) Outcomes(ctx context.Context, windows []store.Window, most int) ([]store.Outcomes, error) {
	type window struct {
		store.Window

		Within millis `json:"within_ms"`
	}
	args := struct {
		mostArg

		Windows []window `json:"windows"`
	}{mostArg: mostArg{most}}
	for _, w := range windows {
		args.Windows = append(args.Windows, window{w, millis(w.Within)})
	}
	return call[[]store.Outcomes](ctx, c, "aw_outcomes", args)
}

func (c *client) Overview(ctx context.Context, within time.Duration, most int) (store.Overview, error) {
	return call[store.Overview](ctx, c, "aw_overview", struct {
		mostArg

		Within millis `json:"within_ms"`
	}{mostArg{most}, millis(within)})
}

func (c *client) FindJobs(ctx context.Context, q store.JobQuery) (store.FoundJobs, error) {
	return call[store.FoundJobs](ctx, c, "aw_find_jobs", q)
}

func (c *client) JobCounts(ctx context.Context, most int) ([]store.StatusCount, error) {
	return call[[]store.StatusCount](ctx, c, "aw_job_counts", mostArg{most})
}

func (c *client) JobContext(ctx context.Context, id string) (store.JobContext, error) {
	return call[store.JobContext](ctx, c, "aw_job_context", idArg{id})
}

func (c *client) LetterGroups(ctx context.Context, most int) (store.LetterGroups, error) {
	return call[store.LetterGroups](ctx, c, "aw_letter_groups", mostArg{most})
}

func (c *client) DocumentSets(ctx context.Context, most int) ([]store.DocumentSet, error) {
	return call[[]store.DocumentSet](ctx, c, "aw_document_sets", mostArg{most})
}

func (c *client) DocumentVersions(ctx context.Context, id string) ([]store.DocumentVersion, error) {
	return call[[]store.DocumentVersion](ctx, c, "aw_document_versions", struct {
		idArg
		mostArg
	}{idArg{id}, mostArg{maxVersions}})
}
