package search

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// mostRounds limits how often a store is asked for what takes the place of copies, and of more hits of a document than
// are wanted.
const mostRounds = 12

// ratedRounds is in how many rounds hits are rated: in the first two the best ones are the same, which are rated once. What is
// looked for after them is behind all that was rated.
const ratedRounds = 2

// fewest is how many hits a store is asked for at least: the legs bring no fewer, and copies of the first hits are among
// them.
const fewest = 10

// fill asks the store for as many hits as are wanted. If copies and the limit of a document leave fewer, it looks
// further: first among the store's most hits, then among the chunks that it has not seen, in other documents than those
// that have enough.
func (f Finder) fill(ctx context.Context, s Store, q Query, question string, vector []float32) (Found, error) {
	ask := store.Query{
		Text: q.Text, Embedding: vector, DocumentSet: q.DocumentSet, Within: q.Within, Explain: q.Explain,
		Limit: max(q.Limit, fewest),
	}
	if !q.Unmarked {
		ask.Mark = question
	}
	if f.Rater != nil {
		ask.Limit = max(q.Limit, rated)
	}
	kept := &shown{limit: q.Limit, perDocument: q.PerDocument}
	var found Found
	rates := map[string]float64{}
	for round := range mostRounds {
		if round == ratedRounds {
			f.Rater = nil
		}
		hits, notice, err := f.look(ctx, s, ask, question, rates)
		if err != nil {
			return Found{}, err
		}
		if found.Notice == "" {
			found.Notice = notice
		}
		kept.add(hits)
		if kept.full() || len(hits) < ask.Limit {
			break
		}
		if ask.Limit < most {
			ask.Limit = most
			kept = &shown{limit: q.Limit, perDocument: q.PerDocument} // these hits are among the next ones
			continue
		}
		within := store.Within{}
		if q.Within != nil {
			within = *q.Within
		}
		within.Except = append(within.Except[:len(within.Except):len(within.Except)], kept.exhausted()...)
		within.ExceptChunks = kept.seen
		ask.Within = &within
	}
	found.Hits = kept.hits
	return found, nil
}

// shown are the hits that are shown: no more than the limit, nor of a document, and none twice.
type shown struct {
	limit, perDocument int

	hits []Hit
	says []wording      // of hits
	of   map[string]int // hits by document
	seen []string       // ids of all chunks
}

func (s *shown) full() bool { return len(s.hits) >= s.limit }

// add takes hits, best first. The score of none is above that of the one before it.
func (s *shown) add(hits []Hit) {
	if s.of == nil {
		s.of = map[string]int{}
	}
	for _, h := range hits {
		w := wordingOf(h)
		s.seen = append(s.seen, h.ChunkID)
		if i := s.same(h, w); i >= 0 {
			if s.hits[i].ChunkID != h.ChunkID {
				s.hits[i].AlsoIn = append(s.hits[i].AlsoIn, Copy{
					h.ChunkID, h.DocumentID, h.DocumentSet, h.Filename, h.Version, h.Pages,
				})
			}
			continue
		}
		if s.full() || s.perDocument > 0 && s.of[h.DocumentID] >= s.perDocument {
			continue
		}
		if n := len(s.hits); n > 0 {
			h.Score = min(h.Score, s.hits[n-1].Score)
		}
		s.hits, s.says = append(s.hits, h), append(s.says, w)
		s.of[h.DocumentID]++
	}
}

// same returns the index of the hit that is h, or that says what h does in another document; -1: there is none.
func (s *shown) same(h Hit, w wording) int {
	for i, o := range s.hits {
		if o.ChunkID == h.ChunkID || o.DocumentID != h.DocumentID && w != "" && w == s.says[i] {
			return i
		}
	}
	return -1
}

// exhausted are the documents that have as many hits as one may.
func (s *shown) exhausted() (ids []string) {
	for id, n := range s.of {
		if s.perDocument > 0 && n >= s.perDocument {
			ids = append(ids, id)
		}
	}
	return ids
}
