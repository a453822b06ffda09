package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// vocabulary is how often the document has each word, up to a few pages after the one that is laid out. It decides
// whether a hyphen at a line's end belongs to the word.
type vocabulary struct {
	words     map[string]usage // by their lower case, compounds too
	compounds map[string]usage // words with a hyphen within, in lower case
	open      int              // different compounds of two long words, such as open-source, but not names
}

// usage is how often a word occurs at all, and how often in lower case: of a compound, the part behind the hyphen.
type usage struct{ all, lower int }

const (
	maxVocabulary = 20_000 // words, and compounds
	maxLearned    = 64     // bytes of a word
)

func newVocabulary() *vocabulary {
	return &vocabulary{words: map[string]usage{}, compounds: map[string]usage{}}
}

// learn counts the words of a page, except those that the end of a line splits.
func (v *vocabulary) learn(words []word) {
	split := false
	for _, w := range words {
		rest := split
		split = strings.HasSuffix(w.text, "-") || strings.HasSuffix(w.text, string(softHyphen))
		if s := bare(w.text); !rest && !split && s != "" && len(s) < maxLearned {
			v.count(s)
		}
	}
}

func (v *vocabulary) count(s string) {
	key := strings.ToLower(s)
	u, known := v.words[key]
	if !known {
		if len(v.words) == maxVocabulary {
			return
		}
		key = strings.Clone(key) // not the page that it is a part of
	}
	v.words[key] = usage{u.all + 1, u.lower + one(key == s)}
	first, second, hyphen := strings.Cut(key, "-")
	if !hyphen {
		return
	}
	lower := one(strings.HasSuffix(s, second)) // a language that writes compounds as one word has names with a hyphen
	c := v.compounds[key]
	v.compounds[key] = usage{c.all + 1, c.lower + lower}
	if c.lower == 0 && lower > 0 && isLong(first) && isLong(second) {
		v.open++
	}
}

// hyphenates reports whether the hyphen belongs to the word that ends as the text head, before the hyphen, and goes on as
// the next line's text rest. How the document writes the word elsewhere decides; else the hyphen is kept after a
// preposition within the word, as in state-of-the-art, and between two long words that the document has, if it has more
// such compounds: languages that write compounds as one word have none.
func (v *vocabulary) hyphenates(head, rest string) bool {
	const fewest = 5 // other compounds
	if v == nil {
		return false
	}
	head = bare(head[strings.LastIndexByte(head, ' ')+1:])
	rest, _, _ = strings.Cut(rest, " ")
	rest = bare(rest)
	first, second := strings.ToLower(head), strings.ToLower(rest)
	apart, together := v.compounds[first+"-"+second].all, v.words[first+second].all
	if apart+together > 0 {
		return apart > 0 && apart >= together
	}
	if i := strings.LastIndexByte(first, '-'); i > 0 && linking[first[i+1:]] {
		return true
	}
	return v.open >= fewest && isLong(first) && isLong(second) && !fused[first] &&
		v.words[first].all > 0 && v.words[rest].lower > 0
}

// linking has the words within compounds of more than two words.
var linking = map[string]bool{
	"a": true, "and": true, "as": true, "at": true, "by": true, "for": true, "in": true, "of": true, "on": true, "or": true,
	"the": true, "to": true, "up": true,
}

// fused has words of English that others begin with, such as moreover and undertake.
var fused = map[string]bool{
	"down": true, "hence": true, "here": true, "more": true, "over": true, "some": true, "there": true, "under": true,
	"what": true, "when": true, "where": true, "with": true,
}

// isLong reports whether a part of a compound is hardly a prefix or an ending.
func isLong(s string) bool { return utf8.RuneCountInString(s) >= 4 }

// bare returns a word without the marks around it.
func bare(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
