package enrich

import (
	"cmp"
	"maps"
	"slices"
	"unicode"
)

// ownScripts are those that one language alone, of those that documents are written in, uses. Japanese is told
// from Chinese by its syllabaries: most of a Japanese text may be Han.
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

// sharedScripts are those of many languages.
var sharedScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Ethiopic,
}

// scripts counts the letters of a text by script.
type scripts struct {
	by                        map[string]int // letters of scripts of one language
	shared, cyrillic, letters int
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
			if unicode.Is(unicode.Cyrillic, r) {
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

// own is the language of a text that is mostly in a script of one language; "" else. A syllable or an ideograph
// stands for more than a letter, so that such a text may have as many letters of Latin names in it.
func (s scripts) own() string {
	if s.by["ja"]*10 >= s.by["zh"] { // a tenth of syllabaries: Chinese has none
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

// sharesOf orders languages by their letters, with those that make up at least a hundredth.
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
