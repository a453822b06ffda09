package search

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"unicode"
)

const (
	shingle  = 3   // words of a shingle
	likeness = 0.9 // part of the shingles of both texts that nearly equal ones share
)

// fingerprint is what two texts are compared by: their runs of words, and their numbers. Source: Broder, "On the
// resemblance and containment of documents", 1997; here all shingles are compared, because texts are few and short.
type fingerprint struct {
	shingles map[uint64]bool
	// Texts say different things if these differ, however like they are.
	numbers   uint64
	negations int
}

// negates reports whether a word turns a sentence round, in languages that documents here often have. A list can't be
// whole: without its words a language is folded by the shingles alone.
func negates(word string) bool {
	switch word {
	case "not", "no", "nor", "never", "none", "neither", "without", "except", "unless", "cannot", "t", // of don't
		"nicht", "nichts", "nie", "niemals", "kein", "keine", "keinen", "keinem", "keiner", "keines", "ohne", "außer", "weder",
		"ne", "pas", "jamais", "aucun", "aucune", "sans", "ni", "sauf", // French
		"nunca", "jamás", "ningún", "ninguno", "ninguna", "sin", "salvo", // Spanish
		"não", "nem", "nenhum", "nenhuma", "sem", // Portuguese
		"non", "mai", "nessun", "nessuno", "nessuna", "senza", "né", "tranne", // Italian
		"niet", "geen", "nooit", "zonder", "bez", "żaden", // Dutch, Polish
		"не", "ни", "нет", "никогда", "без", "кроме", "لا", "لم", "لن", "ليس", "بدون", "غير", "değil", "yok", "asla", "hiç":
		return true
	}
	return false
}

// fingerprintOf is that of a hit's last heading and text: a short text under another heading is another one.
func fingerprintOf(h Hit) fingerprint {
	text := h.Content
	if n := len(h.HeadingPath); n > 0 {
		text = h.HeadingPath[n-1] + "\n" + text
	}
	words := wordsOf(text)
	p := fingerprint{shingles: map[uint64]bool{}}
	for i, word := range words {
		if negates(word) {
			p.negations++
		}
		p.shingles[hashOf(strings.Join(words[i:min(i+shingle, len(words))], " "))] = true
	}
	p.numbers = hashOf(strings.Join(numbersOf(text), " "))
	return p
}

// numbersOf are the numbers of a text, each with the signs at it: -5 °C is not 5 °C, nor 5 € 5 %.
func numbersOf(text string) (numbers []string) {
	before := ""
	for text = strings.ToLower(text); text != ""; {
		word, is, rest := cutWord(text)
		if is != between && strings.ContainsFunc(word, unicode.IsDigit) {
			signs := strings.FieldsFunc(before, unicode.IsSpace)
			var sign string
			if len(signs) > 0 {
				sign = signsOf(signs[len(signs)-1])
			}
			after, next, _ := cutWord(rest)
			if next == between {
				if signs := strings.FieldsFunc(after, unicode.IsSpace); len(signs) > 0 {
					word += strings.Trim(signsOf(signs[0]), "-") // 5-ton is 5 ton
				}
			}
			numbers = append(numbers, sign+word)
		}
		before, text = "", rest
		if is == between {
			before = word
		}
	}
	return numbers
}

// signsOf are the signs of a run that change what a number says: of currencies, of arithmetic, % and the like.
func signsOf(run string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '−' || r == '–':
			return '-'
		case r == '|': // of a table
			return -1
		case unicode.Is(unicode.Sc, r) || unicode.Is(unicode.Sm, r) || strings.ContainsRune("%‰°§#", r):
			return r
		}
		return -1
	}, run)
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // a hash takes all
	return h.Sum64()
}

// wordsOf are the words of a text in lower case; of scripts that don't separate words its characters.
func wordsOf(text string) (words []string) {
	for text = strings.ToLower(text); text != ""; {
		word, is, rest := cutWord(text)
		switch is {
		case spaced:
			words = append(words, word)
		case unspaced:
			words = slices.AppendSeq(words, strings.SplitSeq(word, ""))
		}
		text = rest
	}
	return words
}

// nearly reports whether two texts are the same but for a word of a long one, or for signs and case.
func (p fingerprint) nearly(o fingerprint) bool {
	few, many := p.shingles, o.shingles
	if len(few) > len(many) {
		few, many = many, few
	}
	if p.numbers != o.numbers || p.negations != o.negations || len(few) == 0 || float64(len(few)) < likeness*float64(len(many)) {
		return false
	}
	both := 0
	for s := range few {
		if many[s] {
			both++
		}
	}
	return float64(both) >= likeness*float64(len(few)+len(many)-both)
}
