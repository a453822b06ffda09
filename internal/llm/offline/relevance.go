package offline

import (
	"cmp"
	"math"
	"slices"
)

// AnswerModel identifies how an answer's texts are chosen: by Relevant, and by the scores of the search that found them.
// Its number increases when the choice changes.
const AnswerModel = "offline-bm25-2"

// The usual parameters of BM25: the saturation of repetition, and the influence of length.
const (
	saturation = 1.2
	byLength   = 0.75
)

// Relevant ranks texts by the words, pairs of words and pieces of words that they share with a query, the best first.
// It omits texts that share none. A text of average length with everything in the query has a score of 1; below about
// 0.3 a text shares mostly pieces of words.
//
// Source: BM25 of Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, over the features that
// the embeddings of this package are made of.
func Relevant(query string, texts []string) []Scored {
	asked := features(query)
	order := make([]uint64, 0, len(asked)) // for sums that don't depend on the map's order
	for f := range asked {
		order = append(order, f)
	}
	slices.Sort(order)

	all := make([]map[uint64]tally, len(texts))
	found := make(map[uint64]int, len(asked)) // in how many texts a feature is
	lengths, total := make([]float64, len(texts)), 0.0
	for i, text := range texts {
		all[i] = features(text)
		for _, t := range all[i] {
			lengths[i] += float64(t.count)
		}
		total += lengths[i]
		for _, f := range order {
			if all[i][f].count > 0 {
				found[f]++
			}
		}
	}
	average := total / float64(max(1, len(texts)))
	rarity := func(f uint64) float64 {
		n := float64(found[f])
		return asked[f].each * math.Log(1+(float64(len(texts))-n+0.5)/(n+0.5))
	}
	best := 0.0
	for _, f := range order {
		best += rarity(f)
	}
	var ranked []Scored
	for i := range texts {
		score := 0.0
		for _, f := range order {
			if n := float64(all[i][f].count); n > 0 {
				score += rarity(f) * n * (saturation + 1) / (n + saturation*(1-byLength+byLength*lengths[i]/average))
			}
		}
		if score > 0 {
			ranked = append(ranked, Scored{Index: i, Score: score / best})
		}
	}
	slices.SortStableFunc(ranked, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	return ranked
}
