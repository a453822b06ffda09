// Package search is how every caller searches: the HTTP API, MCP, the dashboard, the command and the agent. It embeds the
// question, asks the store, has a service rate the hits if there is one, folds copies, and adds what surrounds the hits.
package search

import (
	"cmp"
	"context"
	"errors"
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
	Rarity(ctx context.Context, question string) (store.Rarity, error)
	Passages(ctx context.Context, q store.PassageQuery) ([]store.Passage, error)
}

// Finder searches. It is safe for concurrent use if its parts are.
type Finder struct {
	Embedder llm.Embedder // the documents' vectors must be by the same model
	Rater    Rater        // nil: the order is the store's
	Log      *slog.Logger // nil: nothing is logged
}

// EmbedError says that the question could not be embedded; other errors of Finder are the store's.
type EmbedError struct{ Cause error }

func (e *EmbedError) Error() string { return "embed the query: " + e.Cause.Error() }

func (e *EmbedError) Unwrap() error { return e.Cause }

const (
	rated = 40  // how many hits a Rater rates
	most  = 100 // how many hits a store returns
)

// Find searches a store. Its error is an *InvalidError if the query is wrong. A Rater that fails changes nothing but the
// order: Found.Notice says so.
func (f Finder) Find(ctx context.Context, s Store, q Query) (Found, error) {
	if err := q.Check(); err != nil {
		return Found{}, err
	}
	question := store.PositiveTerms(q.Text) // neither a vector nor a Rater knows what a minus means
	vector, err := Vector(ctx, f.Embedder, s, question)
	if err != nil {
		return Found{}, err
	}
	found, err := f.fill(ctx, s, q, question, vector)
	if err != nil {
		return Found{}, err
	}
	if !q.Unmarked {
		marker := NewMarker(question)
		for i := range found.Hits {
			h := &found.Hits[i]
			h.marker, h.Marks = marker.For(h.Marks), nil
			h.Highlights = h.marker.Highlight(h.Content)
		}
	}
	if q.Expand > 0 {
		err = expand(ctx, s, q, found.Hits)
	}
	return found, err
}

// Vector embeds a question, which is without what it excludes (store.PositiveTerms). Errors are an *EmbedError and those of
// the store.
func Vector(ctx context.Context, e llm.Embedder, s interface {
	Rarity(ctx context.Context, question string) (store.Rarity, error)
}, question string,
) ([]float32, error) {
	if q, ok := e.(llm.Questioner); ok {
		rare, err := s.Rarity(ctx, question)
		if err != nil && !errors.Is(err, store.ErrSchema) { // a database that was not migrated since doesn't know it
			return nil, err
		}
		return q.Question(question, rare.All, rare.Words), nil
	}
	embedded, err := e.Embed(ctx, []string{question})
	if err != nil {
		return nil, &EmbedError{err}
	}
	return embedded.Vectors[0], nil
}

// look asks the store once, and has the hits rated. known are the rates so far, by chunk.
func (f Finder) look(ctx context.Context, s Store, q store.Query, question string, known map[string]float64) (hits []Hit, notice string, err error) {
	there, err := s.Search(ctx, q)
	if err != nil {
		return nil, "", tooComplex(err)
	}
	hits = make([]Hit, len(there))
	for i, h := range there {
		hits[i].Hit = h
		if q.Explain {
			hits[i].Why, hits[i].Legs = &Why{Place: i + 1, StoreScore: h.Score, Legs: h.Legs}, nil
		}
	}
	if f.Rater != nil && len(hits) > 0 {
		notice, err = f.rate(ctx, question, hits, known)
	}
	return hits, notice, err
}

// rate orders the first hits by their rates; the others follow with no higher a score. If all rates are known, the Rater is
// not asked. The only error is the end of ctx.
func (f Finder) rate(ctx context.Context, question string, all []Hit, known map[string]float64) (notice string, err error) {
	hits := all[:min(rated, len(all))]
	if err := f.learn(ctx, question, hits, known); ctx.Err() != nil {
		return "", context.Cause(ctx)
	} else if err != nil {
		if f.Log != nil {
			f.Log.WarnContext(ctx, "the re-ranker failed; the order is that of words and vectors", "error", err)
		}
		return "The re-ranker failed; the order is that of words and vectors.", nil
	}
	for i := range hits {
		rate := known[hits[i].ChunkID]
		hits[i].Score = rate
		if hits[i].Why != nil {
			hits[i].Why.Rate = &rate
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	for i := len(hits); i < len(all); i++ {
		all[i].Score = min(all[i].Score, hits[len(hits)-1].Score)
	}
	return "", nil
}

// learn makes the rates of hits known.
func (f Finder) learn(ctx context.Context, question string, hits []Hit, known map[string]float64) error {
	unknown := slices.ContainsFunc(hits, func(h Hit) bool {
		_, ok := known[h.ChunkID]
		return !ok
	})
	if !unknown {
		return nil
	}
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = strings.Join(append(slices.Clone(h.HeadingPath), h.Content), "\n")
	}
	rates, err := f.Rater.Rate(ctx, question, texts)
	if err != nil {
		return err
	}
	for i, h := range hits {
		known[h.ChunkID] = rates[i]
	}
	return nil
}
