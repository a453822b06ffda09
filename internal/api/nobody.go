package api

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// nobody is the store of a caller who may read nothing. The API calls no other method of a reader.
type nobody struct{ store.Store }

func (nobody) Job(context.Context, string) (store.Job, error) { return store.Job{}, store.ErrForbidden }

func (nobody) Jobs(context.Context, store.JobFilter) ([]store.Job, error) {
	return nil, store.ErrForbidden
}

func (nobody) Search(context.Context, store.Query) ([]store.Hit, error) {
	return nil, store.ErrForbidden
}

func (nobody) Stats(context.Context, time.Duration) ([]store.JobCount, error) {
	return nil, store.ErrForbidden
}

func (nobody) Events(context.Context, string, int64, int) ([]store.JobEvent, error) {
	return nil, store.ErrForbidden
}

func (nobody) Rarity(context.Context, string) (store.Rarity, error) {
	return store.Rarity{}, store.ErrForbidden
}

func (nobody) Feed(context.Context, store.FeedQuery) (store.FeedPage, error) {
	return store.FeedPage{}, store.ErrForbidden
}

func (nobody) Documents(context.Context, store.DocumentQuery) ([]store.DocumentEntry, error) {
	return nil, store.ErrForbidden
}

func (nobody) Outlines(context.Context, string, string) ([]store.DocumentOutline, error) {
	return nil, store.ErrForbidden
}

func (nobody) Passages(context.Context, store.PassageQuery) ([]store.Passage, error) {
	return nil, store.ErrForbidden
}

func (nobody) DocumentPassages(context.Context, store.DocumentPassageQuery) ([]store.Passage, error) {
	return nil, store.ErrForbidden
}

func (nobody) SummaryRow(context.Context, string) (store.SummaryRow, error) {
	return store.SummaryRow{}, store.ErrForbidden
}

func (nobody) AgentRunRow(context.Context, string) (store.AgentRunRow, error) {
	return store.AgentRunRow{}, store.ErrForbidden
}

func (nobody) DerivedContentRow(context.Context, string) (store.DerivedContentRow, error) {
	return store.DerivedContentRow{}, store.ErrForbidden
}

func (nobody) DeckRow(context.Context, string) (store.DeckRow, error) {
	return store.DeckRow{}, store.ErrForbidden
}

func (nobody) LLMCheckRow(context.Context, string) (store.LLMCheckRow, error) {
	return store.LLMCheckRow{}, store.ErrForbidden
}

func (nobody) Outcomes(context.Context, []store.Window, int) ([]store.Outcomes, error) {
	return nil, store.ErrForbidden
}

func (nobody) Overview(context.Context, time.Duration, int) (store.Overview, error) {
	return store.Overview{}, store.ErrForbidden
}

func (nobody) FindJobs(context.Context, store.JobQuery) (store.FoundJobs, error) {
	return store.FoundJobs{}, store.ErrForbidden
}

func (nobody) JobCounts(context.Context, int) ([]store.StatusCount, error) {
	return nil, store.ErrForbidden
}

func (nobody) DocumentSets(context.Context, int) ([]store.DocumentSet, error) {
	return nil, store.ErrForbidden
}

func (nobody) DocumentVersions(context.Context, string) ([]store.DocumentVersion, error) {
	return nil, store.ErrForbidden
}
