package evidence

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// value is a decimal number: digits without zeros at either end, times ten to the power exp. Zero has no
// digits.
type value struct {
	digits string
	exp    int
}

// numeral is a number in a text, which may have several readings.
type numeral struct {
	text   string
	values []value
	parts  []numeral // the numbers of which it consists, if it is not a single one: "12 345", "2024-05-03"
}

var (
	// spaced are groups of three digits separated by spaces, or several numbers.
	numeralPattern = pattern.New(`\d{1,3}(?: \d{3})+(?:[.,]\d+)?\b|\d+(?:[.,'’·/:-]\d+)*`)
	spacedPattern  = pattern.New(`^\d{1,3}(?: \d{3})+(?:[.,]\d+)?$`)
	groupedPattern = pattern.New(`^\d{1,3}(?:[.,'’·]\d{3})+$`)
	decimalPattern = pattern.New(`^(\d{1,3}(?:[.,'’·]\d{3})*|\d+)[.,·](\d+)$`)
	scalePattern   = pattern.New(`^[ -]?(\p{L}+)`)
	listPattern    = pattern.New(`(?m)^\s*\d{1,3}[.)]\s+`)
)

// scales are words after a number that multiply it, as powers of ten. Some differ between languages.
var scales = map[string][]int{
	"hundred": {2}, "thousand": {3}, "tsd": {3}, "tausend": {3}, "mille": {3}, "mil": {3}, "mila": {3}, "k": {3},
	"million": {6}, "millions": {6}, "millionen": {6}, "millón": {6}, "millones": {6}, "milione": {6}, "milioni": {6},
	"milhão": {6}, "milhões": {6}, "mio": {6}, "mln": {6}, "mn": {6}, "m": {6},
	"billion": {9, 12}, "billions": {9}, "bn": {9}, "mrd": {9}, "milliard": {9}, "milliards": {9}, "milliarde": {9},
	"milliarden": {9},
	"miliardo":   {9}, "miliardi": {9}, "mld": {9}, "bilhão": {9}, "bilhões": {9}, "billionen": {12}, "billones": {12},
	"trillion": {12, 18}, "trillions": {12},
}

// unlisted removes the numbers of list items, which are not claims.
func unlisted(text string) string { return listPattern.ReplaceAllString(text, "") }

// numerals finds the numbers in a folded text.
func numerals(text string) []numeral {
	var all []numeral
	for _, at := range numeralPattern.FindAllStringIndex(text, -1) {
		n := read(text[at[0]:at[1]])
		if word := scalePattern.FindStringSubmatch(text[at[1]:]); word != nil {
			n.scale(scales[strings.ToLower(word[1])])
		}
		all = append(all, n)
	}
	return all
}

// scale adds the values of the number with a word such as "million" after it.
func (n *numeral) scale(powers []int) {
	plain := n.values
	for _, power := range powers {
		for _, v := range plain {
			if v.digits != "" {
				n.values = append(n.values, value{v.digits, v.exp + power})
			}
		}
	}
}

// read returns the possible readings of a number.
func read(text string) numeral {
	n := numeral{text: text}
	if spacedPattern.MatchString(text) {
		joined := read(strings.ReplaceAll(text, " ", ""))
		n.values = joined.values
		for part := range strings.FieldsSeq(text) {
			n.parts = append(n.parts, read(part))
		}
		return n
	}
	if strings.Trim(text, "0123456789") == text || !strings.ContainsAny(text, ".,'’·/:-") {
		n.values = []value{decimal(text, "")}
		return n
	}
	if groupedPattern.MatchString(text) && text[0] != '0' {
		n.values = append(n.values, decimal(digits(text), ""))
	}
	if m := decimalPattern.FindStringSubmatch(text); m != nil && oneMark(m[1]) {
		n.values = append(n.values, decimal(digits(m[1]), m[2]))
	}
	if len(n.values) == 0 { // a date, a time, a version, a range
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
			n.parts = append(n.parts, read(part))
		}
	}
	return n
}

// oneMark reports whether the groups of an integer are separated by one kind of mark.
func oneMark(whole string) bool {
	kinds := 0
	for _, mark := range []string{".", ",", "'", "’", "·"} {
		if strings.Contains(whole, mark) {
			kinds++
		}
	}
	return kinds <= 1
}

func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

func decimal(whole, fraction string) value {
	v := value{strings.TrimLeft(whole+fraction, "0"), -len(fraction)}
	trimmed := strings.TrimRight(v.digits, "0")
	if trimmed == "" {
		return value{}
	}
	return value{trimmed, v.exp + len(v.digits) - len(trimmed)}
}
