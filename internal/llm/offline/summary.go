package offline

import (
	"cmp"
	"math"
	"slices"
)

// SummaryModel identifies Summarize. Its number increases when the summary of the same text changes.
const SummaryModel = "offline-lexrank-1"

// Scored is the index of a text and its score.
type Scored struct {
	Index int
	Score float64
}

// Limit is the longest summary. Zero fields don't limit.
type Limit struct {
	Sentences int
	Words     int // the first sentence may exceed it
}

const (
	damping   = 0.85 // of PageRank
	steps     = 50   // of the power method, at most
	converged = 1e-6
	// alike is the similarity from which a sentence counts as a repetition of a chosen one.
	alike = 0.7
	// widespread is how many sentences may share a word that links them, at least; beyond that the square root of their
	// number counts. Links by more frequent words would only cost time.
	widespread      = 64
	widespreadScale = 4
)

// Summarize selects the most central sentences, and returns them in the order of the text. A score is a sentence's
// share of the total importance. The time is proportional to the pairs of sentences that share a word that is not
// widespread.
//
// Source: continuous LexRank of Erkan and Radev, "LexRank: Graph-based Lexical Centrality as Salience in Text
// Summarization", JAIR 22, 2004: the PageRank of sentences in the graph of their cosine similarity, with words
// weighed by how rare they are, which needs no list of stop words of any language. Repetition is kept out as by
// Carbonell and Goldstein's maximal marginal relevance, SIGIR 1998, with a threshold.
func Summarize(sentences []string, limit Limit) []Scored {
	vectors := weigh(sentences)
	scores := rank(graph(vectors, len(sentences)))
	order := make([]int, len(sentences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var chosen []Scored
	total := 0
	for _, i := range order {
		if limit.Sentences > 0 && len(chosen) == limit.Sentences {
			break
		}
		length := len(words(sentences[i]))
		if length == 0 || limit.Words > 0 && len(chosen) > 0 && total+length > limit.Words ||
			repeats(vectors, chosen, i) {
			continue
		}
		chosen = append(chosen, Scored{Index: i, Score: scores[i]})
		total += length
	}
	slices.SortFunc(chosen, func(a, b Scored) int { return cmp.Compare(a.Index, b.Index) })
	return chosen
}

func repeats(vectors []vector, chosen []Scored, i int) bool {
	for _, c := range chosen {
		if vectors[c.Index].cosine(vectors[i]) > alike {
			return true
		}
	}
	return false
}

// vector is the weights of a text's words, by the word's number and in its order, of length 1.
type vector []weight

type weight struct {
	word  int
	value float64
}

func (v vector) cosine(w vector) (sum float64) {
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch {
		case v[i].word < w[j].word:
			i++
		case v[i].word > w[j].word:
			j++
		default:
			sum += v[i].value * w[j].value
			i, j = i+1, j+1
		}
	}
	return sum
}

// weigh makes tf-idf vectors.
func weigh(sentences []string) []vector {
	numbers := make(map[string]int)
	var frequency []int // in how many sentences a word is
	vectors := make([]vector, len(sentences))
	for i, s := range sentences {
		counts := make(map[int]int)
		for _, w := range words(s) {
			w = stem(w)
			n, known := numbers[w]
			if !known {
				n = len(numbers)
				numbers[w] = n
				frequency = append(frequency, 0)
			}
			if counts[n]++; counts[n] == 1 {
				frequency[n]++
			}
		}
		for n, count := range counts {
			vectors[i] = append(vectors[i], weight{n, float64(count)})
		}
		slices.SortFunc(vectors[i], func(a, b weight) int { return cmp.Compare(a.word, b.word) })
	}
	for _, v := range vectors {
		var square float64
		for j := range v {
			// As idf, but above zero: of two or three sentences each word may be in all.
			v[j].value *= math.Log(1 + float64(len(sentences))/float64(frequency[v[j].word]))
			square += v[j].value * v[j].value
		}
		for j := range v {
			v[j].value /= math.Sqrt(square)
		}
	}
	return vectors
}

// edge is a similarity to another sentence.
type edge struct {
	to    int
	value float64
}

// graph links sentences that share words.
func graph(vectors []vector, n int) [][]edge {
	posts := make(map[int][]edge) // of each word, the sentences with it
	for i, v := range vectors {
		for _, w := range v {
			posts[w.word] = append(posts[w.word], edge{i, w.value})
		}
	}
	most := max(widespread, int(widespreadScale*math.Sqrt(float64(n))))
	edges := make([][]edge, n)
	sums := make([]float64, n)
	for i, v := range vectors {
		var touched []int
		for _, w := range v {
			if len(posts[w.word]) > most {
				continue
			}
			for _, p := range posts[w.word] {
				if sums[p.to] == 0 {
					touched = append(touched, p.to)
				}
				sums[p.to] += w.value * p.value
			}
		}
		slices.Sort(touched)
		for _, to := range touched {
			if to != i {
				edges[i] = append(edges[i], edge{to, sums[to]})
			}
			sums[to] = 0
		}
	}
	return edges
}

// rank is the stationary distribution of a random walk along weighted edges, with occasional jumps.
func rank(edges [][]edge) []float64 {
	n := len(edges)
	scores, next := make([]float64, n), make([]float64, n)
	totals := make([]float64, n)
	for i := range edges {
		scores[i] = 1 / float64(n)
		for _, e := range edges[i] {
			totals[i] += e.value
		}
	}
	for range steps {
		stuck := 0.0 // from a sentence without edges the walk jumps
		for i := range next {
			next[i] = 0
			if totals[i] == 0 {
				stuck += scores[i]
			}
		}
		for i, from := range edges {
			for _, e := range from {
				next[e.to] += damping * scores[i] * e.value / totals[i]
			}
		}
		change := 0.0
		for i := range next {
			next[i] += (1 - damping + damping*stuck) / float64(n)
			change += math.Abs(next[i] - scores[i])
		}
		scores, next = next, scores
		if change < converged {
			break
		}
	}
	return scores
}
