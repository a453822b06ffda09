package pdf

import (
	"fmt"
	"strings"
	"testing"
)

func vocabularyOf(text string) *vocabulary {
	v := newVocabulary()
	v.learn(spelled(text))
	return v
}

func spelled(text string) (words []word) {
	for s := range strings.FieldsSeq(text) {
		words = append(words, word{text: s})
	}
	return words
}

// TestHyphenates: what else a document has decides whether a hyphen at a line's end belongs to the word.
func TestHyphenates(t *testing.T) {
	t.Parallel()
	const others = " open-source long-term cross-platform well-known high-level"
	for _, tt := range []struct {
		about, document, head, rest string
		want                        bool
	}{
		{"the compound is on another line", "The (mobile-only) workers", "for mobile", "only, workers", true},
		{"the word is on another line", "Therefore there and fore" + others, "and there", "fore we", false},
		{"the word is more frequent", "co-operate cooperate cooperate", "co", "operate", false},
		{"within a compound", "art", "the state-of-the", "art models", true},
		{"a part of a compound", "non-linear ear" + others, "the non-lin", "ear", false},
		{"two long words", "an organization provided it" + others, "an organization", "provided tool", true},
		{"the first word begins a sentence", "Data needs a driven team" + others, "is data", "driven.", true},
		{"a language without compounds", "an organization provided it", "an organization", "provided tool", false},
		{"a noun of German", "Daten Bank" + others, "Daten", "bank", false},
		{
			"a language with names", "gegen über Baden-Württemberg Müller-Schmidt Open-Source Software-Lizenz Service-Level",
			"gegen", "über", false,
		},
		{"names before the words", "hand made Open-Source Long-Term Cross-Platform Well-Known High-Level" + others, "hand", "made", true},
		{"a short part", "with out" + others, "with", "out", false},
		{"a word that begins others", "take it under" + others, "they under", "take it", false},
		{"an unknown part", "trans" + others, "trans", "formation", false},
		{"split words teach nothing", "adjust- ment adjust" + others, "adjust", "ment", false},
	} {
		if got := vocabularyOf(tt.document).hyphenates(tt.head, tt.rest); got != tt.want {
			t.Errorf("%s: %q and %q: got %v", tt.about, tt.head, tt.rest, got)
		}
	}
	if (*vocabulary)(nil).hyphenates("well", "known") {
		t.Error("nothing is known without a document")
	}
}

// TestVocabularyIsBounded: a document of random words takes no more memory than a long book.
func TestVocabularyIsBounded(t *testing.T) {
	t.Parallel()
	v := newVocabulary()
	for i := range 2 * maxVocabulary {
		v.learn(spelled(fmt.Sprintf("a%d-b%d", i, i)))
	}
	v.learn(spelled(strings.Repeat("x", 100) + "-y"))
	if len(v.words) != maxVocabulary || len(v.compounds) > maxVocabulary {
		t.Errorf("%d words, %d compounds", len(v.words), len(v.compounds))
	}
}
