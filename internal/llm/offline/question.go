package offline

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// The weights of a question's words whose rarity is no count, as parts of what BM25 would give a word that no text has.
const (
	stopWeight      = 0.05
	unknownWeight   = 0.3 // no text has it: only its pieces may be there
	uncountedWeight = 0.5
)

// Question is the vector of a question to a collection of "all" texts. Its words weigh as much as they are rare there:
// chunks is in how many texts each is, by its lower-case form; 0: in none; nil: it is a stop word. A key of several words,
// as Chinese characters are, is for each of them. Letters of Thai have no rarity. Without texts it is the vector of the text.
//
// The rarity is that of BM25: Robertson, Zaragoza, "The Probabilistic Relevance Framework", 2009. The other weights were
// chosen on XQuAD's English and German, and Cranfield.
func (e *Embedder) Question(text string, all float64, chunks map[string]*float64) []float32 {
	if all <= 0 {
		return e.vector(text, features(text))
	}
	sums, keys := map[string]float64{}, map[string]float64{}
	for key, n := range chunks {
		for _, word := range words(key) {
			if r, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Thai, r) {
				continue // a letter of an alphabet is in every text, and no word
			}
			sums[word] += rarity(all, n)
			keys[word]++
		}
	}
	return e.vector(text, weighed(text, func(word string) float64 {
		if keys[word] == 0 {
			return uncountedWeight
		}
		return sums[word] / keys[word]
	}))
}

// rarity is the weight of a word that n of all texts have.
func rarity(all float64, n *float64) float64 {
	switch {
	case n == nil:
		return stopWeight
	case *n <= 0:
		return unknownWeight
	}
	idf := func(n float64) float64 { return math.Log(1 + max(all-n+0.5, 0)/(n+0.5)) }
	return idf(*n) / idf(0)
}
