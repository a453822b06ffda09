package xml

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
	dates, only := l.dates()
	if p.dated(dates) {
		return true
	}
	if only { // in the very words of the page, if need be: those of a language that has other months
		return strings.ContainsFunc(l.value, unicode.IsLetter) && p.spelling.has(l.value)
	}
	numbers := p.numbers
	if l.negative() {
		numbers = p.negative
	}
	value := l.exact()
	if numbers.HasNumbers(value) {
		return true
	}
	if rate, ok := percent(value); ok && numbers.HasNumbers(rate) {
		return true
	}
	return !l.amount() && !l.negative() && p.spelling.has(l.value) // numbers of accounts and taxes, set in groups
}

// dated reports whether the page has one of the readings of a date.
func (p page) dated(readings []date) bool {
	return slices.ContainsFunc(readings, func(d date) bool { return p.dates[d] })
}

// percent is a rate below one as invoices print it: 0.19 is 19 %.
func percent(value string) (rate string, ok bool) {
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 && n < 1 {
		_, fraction, _ := strings.Cut(value, ".")
		return strconv.FormatFloat(n*100, 'f', max(len(fraction)-2, 0), 64), true // 0.07 times 100 is more than 7
	}
	return "", false
}

// same reports whether a text states the value: as the same number, date or text. The sign is the page's to decide: a
// model may leave it out.
func (l leaf) same(text string) bool {
	p := newPage(text)
	if dates, only := l.dates(); only || p.dated(dates) {
		return p.has(l)
	}
	if !l.amount() && spell(text).is(l.value) {
		return true
	}
	plain := leaf{value: l.unsigned(), number: l.number}
	if p.has(plain) && plain.bears(text) {
		return true
	}
	if l.amount() || spell(l.value).counts() || item.MatchString(plain.value) == item.MatchString(text) {
		return false
	}
	plain.value, text = item.ReplaceAllString(plain.value, ""), item.ReplaceAllString(text, "")
	return newPage(text).has(plain) && plain.bears(text)
}

// bears reports whether a value has all numbers of a text.
func (l leaf) bears(text string) bool {
	value := l.exact()
	if rate, ok := percent(value); ok && percentage.MatchString(norm.NFKC.String(text)) {
		return evidence.NewSource(value, rate).HasNumbers(text)
	}
	return evidence.NewSource(value).HasNumbers(text)
}

var (
	// item is the number of an item before its text, which the gateway and the model may leave out.
	item = pattern.New(`^\s*\d{1,3}[.)]\s+`)
	// percentage is a text with one number, which is a percentage.
	percentage = pattern.New(`^\D*(?:\d+(?:[.,]\d+)?\s*%|%\s*\d+(?:[.,]\d+)?)\D*$`)
)

// minus are the characters that PDFs have for it.
const minus = `[-\x{AD}\x{2010}-\x{2015}\x{2212}\x{FE63}\x{FF0D}]`

// digitsOfLeaf is a number other than zero, and unit the currency before or after it: EUR or €. INV-100 has none.
const (
	digitsOfLeaf = `[\d.,'’ ]*[1-9][\d.,'’ ]*`
	unit         = `(?:\p{Sc}\s*|\b[A-Z]{3}(?:\s+|$))`
)

var (
	amountPattern = pattern.New(`^\s*` + minus + `?\s*\d+(?:[ .,'’]\d{3})*[.,]\d{1,2}\s*$`)
	negativeLeaf  = pattern.New(`^\s*(?:` + unit + `?` + minus + `\s*(?:\p{Sc}|[A-Z]{3})?` + digitsOfLeaf + unit + `?` +
		`|\(` + digitsOfLeaf + `\)|` + digitsOfLeaf + `-)\s*$`)
	signs           = pattern.New(minus + `|[()]`)
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

// unsigned is exact without a sign.
func (l leaf) unsigned() string {
	if l.negative() {
		return signs.ReplaceAllString(l.exact(), "")
	}
	return strings.TrimPrefix(l.exact(), "-")
}

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
