package xml

import (
	"strings"
	"unicode"

	"golang.org/x/text/currency"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// spelling is a text without what is between its letters and digits.
type spelling struct {
	text string
	gaps map[int]gap // by the byte before which there was something, or the text begins or ends
}

// gap is what was between two letters or digits.
type gap int

const (
	joined  gap = iota // nothing
	apart              // spaces and marks that say nothing, as in 500 123 456
	decimal            // the mark of an amount, as in 2,876.11
	cells              // two cells of a row
)

var (
	markedNumber = pattern.New(`\d+(?:[.,'’·/:-]\d+)*`)
	markedAmount = pattern.New(`^(?:\d{1,3}(?:[.,'’·]\d{3})*|\d+)[.,·](\d{1,2})$`)
)

// decimals are the bytes of a text at which the fractions of its amounts begin.
func decimals(text string) map[int]bool {
	all := map[int]bool{}
	for _, at := range markedNumber.FindAllStringIndex(text, -1) {
		if m := markedAmount.FindStringSubmatchIndex(text[at[0]:at[1]]); m != nil {
			all[at[0]+m[2]] = true
		}
	}
	return all
}

func spell(text string) spelling {
	s := spelling{gaps: map[int]gap{}}
	fractions := decimals(text)
	var b strings.Builder
	between := apart
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if between = max(between, apart); r == '|' {
				between = cells
			}
			continue
		}
		if fractions[i] {
			between = decimal
		}
		if between != joined {
			s.gaps[b.Len()], between = between, joined
		}
		b.WriteRune(unicode.ToLower(r))
	}
	s.gaps[b.Len()] = apart
	s.text = b.String()
	return s
}

// shortName is the length in bytes, without spaces and signs, up to which a name is not looked for: any text may have it.
const shortName = 4

// has reports whether the text has a name, in whatever groups, and not as a part of a longer one.
func (s spelling) has(name string) bool {
	short := spell(name)
	if len(short.text) <= shortName {
		return false
	}
	for from := 0; ; {
		at := strings.Index(s.text[from:], short.text)
		if at < 0 {
			return false
		}
		from += at
		if s.gaps[from] != joined && s.gaps[from+len(short.text)] != joined && !s.divides(short, from) {
			return true
		}
		from++
	}
}

// is reports whether the text is a name, in whatever groups.
func (s spelling) is(name string) bool {
	short := spell(name)
	return s.text == short.text && !s.divides(short, 0)
}

// divides reports whether a name of digits alone, found at a byte of the text, is another number there: digits that the name
// has side by side are the whole and the fraction of an amount, or are in two cells. 287611 is not 2,876.11.
func (s spelling) divides(name spelling, from int) bool {
	if !name.counts() {
		return false
	}
	for i := 1; i < len(name.text); i++ {
		there, here := s.gaps[from+i], name.gaps[i]
		if (there == decimal) != (here == decimal) || (there == cells) != (here == cells) {
			return true
		}
	}
	return false
}

// counts reports whether a name has digits alone, except for a currency.
func (s spelling) counts() bool {
	digits := func(r rune) bool { return unicode.IsDigit(r) }
	unit := strings.TrimFunc(s.text, digits)
	if strings.ContainsFunc(unit, digits) || unit == s.text { // digits on both sides of letters
		return false
	}
	if unit == "" {
		return true
	}
	_, err := currency.ParseISO(unit)
	return err == nil
}
