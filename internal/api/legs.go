package api

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// mostOfLeg is how many hits a leg of a search brings.
const mostOfLeg = 100

// Legs are the two parts of a search, each by itself and the best first. What both find is ranked by both.
type Legs struct {
	Words   []store.Hit // by words alone
	Meaning []store.Hit // by the vector alone
}

// SearchLegs is Search, and what each of its legs found. The question is embedded once.
func (c *Caller) SearchLegs(ctx context.Context, q Question) (found search.Found, legs Legs, err error) {
	_, err = within(ctx, c, "search", &q, func(ctx context.Context, q *Question) (*struct{}, error) {
		s := &splitting{Store: c.api.reader(ctx)}
		found, err = c.api.findIn(ctx, s, *q)
		legs = s.legs
		return nil, err
	})
	return found, legs, err
}

// splitting is a store whose search also asks for each leg.
type splitting struct {
	search.Store
	legs Legs
	done bool
}

// Search implements search.Store.
func (s *splitting) Search(ctx context.Context, q store.Query) (hits []store.Hit, err error) {
	if s.done { // the search is filled up
		return s.Store.Search(ctx, q)
	}
	s.done = true
	words, meaning := q, q
	words.Embedding, words.Limit, words.Mark = nil, mostOfLeg, ""
	meaning.Text, meaning.Limit, meaning.Mark = "", mostOfLeg, ""
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { hits, err = s.Store.Search(ctx, q); return err })
	g.Go(func() (err error) { s.legs.Words, err = s.Store.Search(ctx, words); return err })
	if len(q.Embedding) > 0 {
		g.Go(func() (err error) { s.legs.Meaning, err = s.Store.Search(ctx, meaning); return err })
	}
	return hits, g.Wait()
}
