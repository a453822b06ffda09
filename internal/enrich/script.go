package enrich

import (
	"cmp"
	"maps"
	"slices"
	"unicode"
)

// ownScripts are the scripts that only one common language uses. Japanese is distinguished from Chinese by its
// syllabaries: most of a Japanese text may be Han.
var ownScripts = []struct {
	table *unicode.RangeTable
	code  string
}{
	{unicode.Han, "zh"},
	{unicode.Hiragana, "ja"},
	{unicode.Katakana, "ja"},
	{unicode.Hangul, "ko"},
	{unicode.Greek, "el"},
	{unicode.Thai, "th"},
	{unicode.Georgian, "ka"},
	{unicode.Armenian, "hy"},
	{unicode.Bengali, "bn"},
	{unicode.Tamil, "ta"},
	{unicode.Telugu, "te"},
	{unicode.Kannada, "kn"},
	{unicode.Malayalam, "ml"},
	{unicode.Gujarati, "gu"},
	{unicode.Gurmukhi, "pa"},
	{unicode.Sinhala, "si"},
	{unicode.Khmer, "km"},
	{unicode.Myanmar, "my"},
	{unicode.Lao, "lo"},
}

// sharedScripts are the scripts of many languages.
var sharedScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Ethiopic,
}

// scripts counts the letters of a text by script.
type scripts struct {
	by                               map[string]int // letters of scripts of one language
	shared, latin, cyrillic, letters int
}

func tally(text string) scripts {
	s := scripts{by: map[string]int{}}
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		s.letters++
		if r < 0x250 || unicode.In(r, sharedScripts...) {
			s.shared++
			switch {
			case unicode.Is(unicode.Latin, r):
				s.latin++
			case unicode.Is(unicode.Cyrillic, r):
				s.cyrillic++
			}
			continue
		}
		for _, own := range ownScripts {
			if unicode.Is(own.table, r) {
				s.by[own.code]++
				break
			}
		}
	}
	return s
}

// own returns the language of a text that is mostly in a script of one language, or "". A syllable or an
// ideograph counts more than a letter, so such a text may contain as many Latin letters in names.
func (s scripts) own() string {
	if s.by["ja"]*10 >= s.by["zh"] { // a tenth in syllabaries, which Chinese lacks
		s.by["ja"] += s.by["zh"]
		delete(s.by, "zh")
	}
	code, most := "", 0
	for _, c := range slices.Sorted(maps.Keys(s.by)) {
		if s.by[c] > most {
			code, most = c, s.by[c]
		}
	}
	if most < minOwnScript || most < s.shared {
		return ""
	}
	return code
}

// sharesOf returns the languages with at least a hundredth of the letters, the largest first.
func sharesOf(by map[string]int) (shares []Share, total int) {
	for _, n := range by {
		total += n
	}
	for code, n := range by {
		if share := float64(n) / float64(max(total, 1)); share >= 0.01 {
			shares = append(shares, Share{code, share})
		}
	}
	slices.SortFunc(shares, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Language, b.Language))
	})
	return shares, total
}
