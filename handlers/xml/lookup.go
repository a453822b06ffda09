package xml

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/evidence"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// index are the pages of a document, to look values up.
type index struct{ pages []page }

// page is the text of one page, for each kind of value.
type page struct {
	numbers  *evidence.Source
	negative *evidence.Source // the numbers with a minus alone
	dates    map[date]bool
	spelling spelling
}

func newIndex(doc document) index {
	var x index
	for _, text := range doc.pages {
		x.pages = append(x.pages, newPage(text))
	}
	return x
}

func newPage(text string) page {
	return page{
		numbers: evidence.NewSource(text), negative: evidence.NewSource(negatives(text)), dates: datesIn(text),
		spelling: spell(text),
	}
}

// on reports whether a page has a value, in any notation.
func (x index) on(n int, l leaf) bool { return x.pages[n-1].has(l) }

func (p page) has(l leaf) bool {
	if written := l.dates(); len(written) > 0 {
		return slices.ContainsFunc(written, func(d date) bool { return p.dates[d] })
	}
	numbers := p.numbers
	if l.negative() {
		numbers = p.negative
	}
	value := l.exact()
	if bears(numbers, value) {
		return true
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1 { // 0.19 of a rate is printed as 19 %
		_, fraction, _ := strings.Cut(value, ".")
		if bears(numbers, strconv.FormatFloat(n*100, 'f', max(len(fraction)-2, 0), 64)) { // 0.07 times 100 is more than 7
			return true
		}
	}
	return !l.amount() && p.spelling.has(l.value) // numbers of accounts and taxes, set in groups
}

// bears reports whether a text has all numbers of a value.
func bears(s *evidence.Source, value string) bool {
	return !slices.ContainsFunc(s.Unsupported(value), func(c evidence.Claim) bool { return c.Kind == evidence.Number })
}

// same reports whether a text states the value: as the same number, date or text. The sign is the page's to decide: a
// model may leave it out.
func (l leaf) same(text string) bool {
	if len(l.dates()) > 0 {
		return newPage(text).has(l)
	}
	if !l.amount() && compact(l.value) == compact(text) {
		return true
	}
	plain := leaf{value: strings.TrimPrefix(l.exact(), "-"), number: l.number}
	return newPage(text).has(plain) && bears(evidence.NewSource(plain.exact()), text)
}

// minus are the characters that PDFs have for it.
const minus = `[-\x{AD}\x{2010}-\x{2015}\x{2212}\x{FE63}\x{FF0D}]`

var (
	amountPattern   = pattern.New(`^\s*` + minus + `?\s*\d+(?:[ .,'’]\d{3})*[.,]\d{1,2}\s*$`)
	negativeLeaf    = pattern.New(`^\s*(?:` + minus + `\s*[\d.,'’ ]*[1-9][\d.,'’ ]*|\([\d.,'’ ]*[1-9][\d.,'’ ]*\)|[\d.,'’ ]*[1-9][\d.,'’ ]*-)\s*$`)
	negativePattern = pattern.New(`(?:^|[\s(|:\p{Sc}])` + minus + `\s?(?:\p{Sc}|[A-Z]{3})?\s?(\d[\d.,'’·]*(?: \d{3})*(?:[.,]\d+)?)` +
		`|\(\s?(?:\p{Sc}|[A-Z]{3})?\s?(\d[\d.,'’· ]*)\s?\)` +
		`|(\d[\d.,'’·]*(?: \d{3})*(?:[.,]\d+)?)(?:` + minus + `(?:[\s|)\p{Sc}]|$)|\s?CR\b)`)
)

// negatives are the numbers of a text that have a minus: before or after them, or as parentheses.
func negatives(text string) string {
	var b strings.Builder
	for _, m := range negativePattern.FindAllStringSubmatch(text, -1) {
		b.WriteString(strings.TrimRight(m[1]+m[2]+m[3], " .,'’·") + "\n")
	}
	return b.String()
}

// negative reports whether the value is a number below zero.
func (l leaf) negative() bool { return negativeLeaf.MatchString(l.exact()) }

// amount reports whether the value is a number, and not a name that has digits.
func (l leaf) amount() bool { return l.number || amountPattern.MatchString(l.value) }

// exact is the value in a notation that has one reading: JSON has only decimal points, and 1.234 is no thousand in it.
func (l leaf) exact() string {
	if !l.number {
		return l.value
	}
	value := l.value
	if strings.ContainsAny(value, "eE") {
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(n, 'f', -1, 64)
		}
	}
	if _, fraction, ok := strings.Cut(value, "."); ok && len(fraction) == 3 {
		value += "0"
	}
	return value
}

// compact returns the letters and digits of a text, without case.
func compact(text string) string { return spell(text).text }

// spelling is a text without what is between its letters and digits.
type spelling struct {
	text  string
	edges map[int]bool // before which bytes there was something, or the text begins or ends
}

func spell(text string) spelling {
	s := spelling{edges: map[int]bool{}}
	var b strings.Builder
	edge := true
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			edge = true
			continue
		}
		if edge {
			s.edges[b.Len()], edge = true, false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	s.edges[b.Len()] = true
	s.text = b.String()
	return s
}

// shortName is the length in bytes, without spaces and signs, up to which a name is not looked for: any text may have it.
const shortName = 4

// has reports whether the text has a name, in whatever groups, and not as a part of a longer one.
func (s spelling) has(name string) bool {
	short := compact(name)
	if len(short) <= shortName {
		return false
	}
	for from := 0; ; {
		at := strings.Index(s.text[from:], short)
		if at < 0 {
			return false
		}
		if from += at; s.edges[from] && s.edges[from+len(short)] {
			return true
		}
		from++
	}
}
