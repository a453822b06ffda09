package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// The weights of the kinds of features. A word counts for more than its pieces, which match inflected and misspelt
// forms; a pair of words represents their order.
const (
	wordWeight  = 1.0
	pairWeight  = 0.5
	pieceWeight = 0.25
)

// The lengths of the pieces of words, in runes, with a mark at both ends of the word.
const (
	pieceMin = 3
	pieceMax = 4
)

// wordMax is the longest run of letters, in runes, that is taken as one word.
const wordMax = 64

// tally is how often a feature occurs in a text, and its weight.
type tally struct {
	count int
	each  float64
}

// features returns the features of a text by their hash.
func features(text string) map[uint64]tally { return weighed(text, func(string) float64 { return 1 }) }

// weighed are the features of a text; those of a word weigh rarity of what they would, those of a pair the mean of both.
func weighed(text string, rarity func(word string) float64) map[uint64]tally {
	tallies := make(map[uint64]tally)
	add := func(kind, feature string, weight float64) {
		h := hash(kind, feature)
		t := tallies[h]
		tallies[h] = tally{count: t.count + 1, each: max(t.each, weight)}
	}
	previous, before := "", 0.0
	for _, word := range words(text) {
		stem, rare := stem(word), rarity(word)
		weight := informative(stem)
		add("word", stem, wordWeight*weight*rare)
		if previous != "" {
			add("pair", previous+" "+stem, pairWeight*weight*(before+rare)/2)
		}
		for _, piece := range pieces(stem) {
			add("piece", piece, pieceWeight*weight*rare)
		}
		previous, before = stem, rare
	}
	return tallies
}

// words returns the runs of letters and digits of text, folded: compatibility forms and accents resolved, case removed.
// In scripts that don't separate words by spaces each rune is a word.
func words(text string) []string {
	// A fold per call: a Caser isn't safe for concurrent use.
	folded := norm.NFKD.String(cases.Fold().String(text))
	var found []string
	var word strings.Builder
	runes := 0
	end := func() {
		if word.Len() > 0 {
			found = append(found, word.String())
			word.Reset()
			runes = 0
		}
	}
	for _, r := range folded {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent, separated from its letter
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end()
			found = append(found, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word.WriteRune(r)
			if runes++; runes == wordMax {
				end()
			}
		default:
			end()
		}
	}
	end()
	return found
}

// stem removes the plural of an English word. Source: the S-stemmer of Harman, "How Effective Is Suffixing?", JASIS
// 42(1), 1991. Pieces match other endings.
func stem(word string) string {
	switch {
	case len(word) < 4:
	case strings.HasSuffix(word, "ies") && !strings.HasSuffix(word, "eies") && !strings.HasSuffix(word, "aies"):
		return strings.TrimSuffix(word, "ies") + "y"
	case strings.HasSuffix(word, "es") && !strings.HasSuffix(word, "aes") && !strings.HasSuffix(word, "ees") &&
		!strings.HasSuffix(word, "oes"):
		return strings.TrimSuffix(word, "s")
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "us") && !strings.HasSuffix(word, "ss"):
		return strings.TrimSuffix(word, "s")
	}
	return word
}

// informative weighs a word by its length, in place of its frequency in a corpus: in alphabetic languages the frequent
// words with little meaning are short ("the", "und", "de"). Digits and runes of other scripts have full weight.
func informative(word string) float64 {
	if r, _ := utf8.DecodeRuneInString(word); !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) {
		return 1
	}
	switch n := utf8.RuneCountInString(word); {
	case n <= 2:
		return 0.15
	case n == 3:
		return 0.35
	case n == 4:
		return 0.7
	default:
		return 1
	}
}

// pieces returns the parts of a word of pieceMin to pieceMax runes.
func pieces(word string) []string {
	marked := []rune("^" + word + "$")
	var found []string
	for n := pieceMin; n <= pieceMax; n++ {
		for i := 0; i+n <= len(marked); i++ {
			found = append(found, string(marked[i:i+n]))
		}
	}
	return found
}

// hash is FNV-1a over kind and feature with the finalizer of SplitMix64, so that all bits depend on
// all bytes.
func hash(kind, feature string) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range [...]string{kind, "\x00", feature} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
