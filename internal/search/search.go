// Package search is how every caller searches: the HTTP API, MCP, the dashboard, the command and the agent. It embeds the
// question, asks the store, and has a service rate the hits, if there is one.
package search

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Rater rates texts by how well they answer a question, from 0 to 1.
type Rater interface {
	Rate(ctx context.Context, question string, texts []string) ([]float64, error)
}

// Store is what is searched.
type Store interface {
	Search(ctx context.Context, q store.Query) ([]store.Hit, error)
}

// Finder searches. It is safe for concurrent use if its parts are.
type Finder struct {
	Embedder llm.Embedder // the documents' vectors must be by the same model
	Rater    Rater        // nil: the order is the store's
	Log      *slog.Logger // nil: nothing is logged
}

// Found is the result of a search.
type Found struct {
	Hits   []store.Hit
	Notice string // what a reader should know of their order; empty: nothing
}

// EmbedError says that the question could not be embedded; other errors of Finder are the store's.
type EmbedError struct{ Cause error }

func (e *EmbedError) Error() string { return "embed the query: " + e.Cause.Error() }

func (e *EmbedError) Unwrap() error { return e.Cause }

// rated is how many hits a Rater rates.
const rated = 40

// Find searches a store; the query has no embedding yet. A Rater that fails changes nothing but the order: Found.Notice
// says so.
func (f Finder) Find(ctx context.Context, s Store, q store.Query) (Found, error) {
	question := store.PositiveTerms(q.Text) // neither a vector nor a Rater knows what a minus means
	embedded, err := f.Embedder.Embed(ctx, []string{question})
	if err != nil {
		return Found{}, &EmbedError{err}
	}
	q.Embedding = embedded.Vectors[0]
	limit := q.Limit
	if f.Rater != nil {
		q.Limit = max(limit, rated)
	}
	hits, err := s.Search(ctx, q)
	if err != nil {
		return Found{}, err
	}
	found := Found{Hits: hits}
	if f.Rater != nil && len(hits) > 0 {
		found.Notice, err = f.rate(ctx, question, hits)
		if err != nil {
			return Found{}, err
		}
	}
	found.Hits = hits[:min(limit, len(hits))]
	return found, nil
}

// rate orders the first hits by their rates; the others follow with no higher a score. The only error is the end of ctx.
func (f Finder) rate(ctx context.Context, question string, all []store.Hit) (notice string, err error) {
	hits := all[:min(rated, len(all))]
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = strings.Join(append(slices.Clone(h.HeadingPath), h.Content), "\n")
	}
	rates, err := f.Rater.Rate(ctx, question, texts)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		if f.Log != nil {
			f.Log.WarnContext(ctx, "the re-ranker failed; the order is that of words and vectors", "error", err)
		}
		return "The re-ranker failed; the order is that of words and vectors.", nil
	}
	for i := range hits {
		hits[i].Score = rates[i]
	}
	slices.SortStableFunc(hits, func(a, b store.Hit) int { return cmp.Compare(b.Score, a.Score) })
	for i := len(hits); i < len(all); i++ {
		all[i].Score = min(all[i].Score, hits[len(hits)-1].Score)
	}
	return "", nil
}
