package offline

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The weights of a question's words whose rarity is no count, as parts of what BM25 would give a word that no text has.
const (
	stopWeight      = 0.05 // no word has less: what all texts have would have none, and its question no direction
	unknownWeight   = 0.3  // no text has it: only its pieces may be there
	uncountedWeight = 0.5
)

// letters gives a word the forms of letters that the keys of Question have, which are those of aw_letters in SQL.
var letters = strings.NewReplacer("ی", "ي", "ک", "ك", "\u06d5", "ه", "ھ", "ه", "\u0640", "")

// Question is the vector of a question to a collection of "all" texts. Its words weigh as much as they are rare there:
// chunks is in how many texts each is, by its lower-case form; 0: in none; nil: it is a stop word. A key of several words,
// as Chinese characters are, is for each of them; a word of Korean, Lao, Khmer or Burmese has the mean of the keys in it.
// Letters of Thai have no rarity. A word without a key was not counted. Without texts it is the vector of the text.
//
// The rarity is that of BM25: Robertson, Zaragoza, "The Probabilistic Relevance Framework", 2009. The other weights were
// chosen on XQuAD's English and German, and Cranfield.
func (e *Embedder) Question(text string, all float64, chunks map[string]*float64) []float32 {
	if all <= 0 {
		return e.vector(text, features(text))
	}
	counted := map[string]mean{}
	for _, key := range slices.Sorted(maps.Keys(chunks)) { // sums depend on their order
		for _, word := range words(key) {
			counted[word] = counted[word].and(rarity(all, chunks[key]))
		}
	}
	parts := slices.Sorted(maps.Keys(counted))
	return e.vector(text, weighed(text, func(word string) float64 {
		word = letters.Replace(word)
		m := counted[word]
		switch first, _ := utf8.DecodeRuneInString(word); {
		case unicode.Is(unicode.Thai, first):
			m = mean{} // a letter of an alphabet is in every text, and no word
		case m.n == 0 && strings.ContainsFunc(word, paired):
			for _, part := range parts {
				if strings.Contains(word, part) {
					m = m.and(counted[part].value())
				}
			}
		}
		return m.value()
	}))
}

// mean of rarities; of none it is uncountedWeight.
type mean struct{ sum, n float64 }

func (m mean) and(x float64) mean { return mean{m.sum + x, m.n + 1} }

func (m mean) value() float64 {
	if m.n == 0 {
		return uncountedWeight
	}
	return m.sum / m.n
}

// paired reports whether keys are pairs of such characters, though words are not single ones.
func paired(r rune) bool {
	return unicode.In(r, unicode.Hangul, unicode.Lao, unicode.Khmer, unicode.Myanmar)
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
	return max(idf(*n)/idf(0), stopWeight)
}
