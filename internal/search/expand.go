package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// expand adds to hits the chunks around them under the same heading, at most q.Expand before and after each. No chunk
// comes twice: what is a hit, or around a better one, is left out.
func expand(ctx context.Context, s Store, q Query, hits []Hit) error {
	if len(hits) == 0 {
		return nil
	}
	n := min(q.Expand, MaxExpand)
	ids := make([]string, len(hits))
	given := map[string]bool{}
	for i, h := range hits {
		ids[i] = h.ChunkID
		given[h.ChunkID] = true
	}
	there, err := s.Passages(ctx, store.PassageQuery{DocumentSet: q.DocumentSet, IDs: ids, Around: n, Limit: 1000})
	if err != nil {
		return fmt.Errorf("read what is around the hits: %w", err)
	}
	type place struct {
		document string
		position int
	}
	at := map[place]store.Passage{}
	position := map[string]int{}
	for _, p := range there {
		at[place{p.DocumentID, p.Position}] = p
		position[p.ChunkID] = p.Position
	}
	for i := range hits {
		h := &hits[i]
		from, ok := position[h.ChunkID]
		if !ok {
			continue // another version has become active since
		}
		side := func(step int) (around []store.Passage) {
			for k := 1; k <= n; k++ {
				p, ok := at[place{h.DocumentID, from + k*step}]
				if !ok || p.Version != h.Version || !slices.Equal(p.HeadingPath, h.HeadingPath) {
					return around
				}
				if !given[p.ChunkID] {
					given[p.ChunkID] = true
					around = append(around, p)
				}
			}
			return around
		}
		h.Before, h.After = side(-1), side(1)
		slices.Reverse(h.Before)
	}
	return nil
}
