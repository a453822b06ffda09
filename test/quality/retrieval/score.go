package retrieval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// depth is how many hits of a ranking count.
const depth = 10

// Score is how well one question, or on average many, was answered: each measure from 0 to 1.
type Score struct {
	Recall1, Recall5, Recall10 float64 // the part of the answers that is among the first 1, 5 and 10
	MRR, NDCG                  float64 // of the first 10
}

// judge scores a ranking of distinct passages, best first.
func judge(ranking, answers []string) Score {
	var s Score
	gain, best, found := 0.0, 0.0, 0
	for i, id := range ranking[:min(depth, len(ranking))] {
		if slices.Contains(answers, id) {
			found++
			gain += 1 / math.Log2(float64(i+2))
			if s.MRR == 0 {
				s.MRR = 1 / float64(i+1)
			}
		}
		part := float64(found) / float64(len(answers))
		switch {
		case i < 1:
			s.Recall1, s.Recall5, s.Recall10 = part, part, part
		case i < 5:
			s.Recall5, s.Recall10 = part, part
		default:
			s.Recall10 = part
		}
	}
	for i := range min(depth, len(answers)) {
		best += 1 / math.Log2(float64(i+2))
	}
	s.NDCG = gain / best
	return s
}

// mean is the average of scores.
func mean(scores []Score) Score {
	var sum Score
	for _, s := range scores {
		sum.Recall1 += s.Recall1
		sum.Recall5 += s.Recall5
		sum.Recall10 += s.Recall10
		sum.MRR += s.MRR
		sum.NDCG += s.NDCG
	}
	n := float64(max(1, len(scores)))
	return Score{sum.Recall1 / n, sum.Recall5 / n, sum.Recall10 / n, sum.MRR / n, sum.NDCG / n}
}

// resamples is how many times the questions are drawn for an interval.
const resamples = 2000

// interval is where 95 % of the means lie when the values are drawn again, with replacement (the bootstrap). Of the
// differences of two rankings for the same questions it is the paired bootstrap. It is the same in each run.
func interval(values []float64) (low, high float64) {
	random := rand.New(rand.NewPCG(1, uint64(len(values))))
	means := make([]float64, resamples)
	for i := range means {
		for range values {
			means[i] += values[random.IntN(len(values))]
		}
		means[i] /= float64(len(values))
	}
	slices.Sort(means)
	return means[resamples*25/1000], means[resamples*975/1000-1]
}
