package pdf

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// ordinal matches the start of a numbered item: "2.", "2)", "(2)", "a)", "(iv)".
var ordinal = pattern.New(`^(\(?)(\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})([.)])$`)

// ordinalSeen is a number of a list.
type ordinalSeen struct {
	shape string  // for example "#." or "(a)"
	value int     // from 1
	left  float64 // left edge of its word
	inset float64 // from the left edge of its column
}

// readings returns the meanings of a list number: "i)" is the ninth letter or the first Roman number.
func readings(w word, column float64) []ordinalSeen {
	m := ordinal.FindStringSubmatch(w.text)
	if m == nil {
		return nil
	}
	shape := func(mark string) string { return m[1] + mark + m[3] }
	if n, err := strconv.Atoi(m[2]); err == nil {
		return []ordinalSeen{{shape("#"), n, w.left, w.left - column}}
	}
	var out []ordinalSeen
	letter, roman := "a", "i"
	if m[2] == strings.ToUpper(m[2]) {
		letter, roman = "A", "I"
	}
	if len(m[2]) == 1 {
		out = append(out, ordinalSeen{shape(letter), int(m[2][0]|0x20-'a') + 1, w.left, w.left - column})
	}
	if n := romanValue(strings.ToLower(m[2])); n > 0 {
		out = append(out, ordinalSeen{shape(roman), n, w.left, w.left - column})
	}
	return out
}

// romanValue returns the value of a Roman numeral up to 99, or zero.
func romanValue(s string) int {
	tens := []string{"", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx", "xc"}
	ones := []string{"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"}
	for n := 1; n < 100; n++ {
		if tens[n/10]+ones[n%10] == s {
			return n
		}
	}
	return 0
}

// opensList reports whether the first of the words, in a column with this left edge, starts or continues a list: it follows the
// last number at the same position, or, at the start of a piece, is the next number of another list, a first number, or any number
// in digits. A number in parentheses may be negative, or the area code of a telephone number.
func (sp *splitter) opensList(column float64, words []word, fresh bool, size float64) bool {
	if isPhone(words) || isNegative(words) && slices.ContainsFunc(words, isSign) {
		return false
	}
	rs := readings(words[0], column)
	for _, r := range rs {
		if r.follows(sp.last) && abs(r.left-sp.last.left) < 2*size {
			sp.note(r)
			return true
		}
	}
	if !fresh || isNegative(words) {
		return false
	}
	for _, r := range rs {
		// The items of another list may be within the one before, and a list may go on in the next column.
		if last := sp.lists[r.shape]; r.follows(last) && min(abs(r.left-last.left), abs(r.inset-last.inset)) < 2*size {
			sp.note(r)
			return true
		}
	}
	for _, r := range rs {
		if r.shape == "(#)" && r.value >= leastLarge && !r.follows(sp.last) {
			continue
		}
		if r.value == 1 || strings.Contains(r.shape, "#") {
			sp.note(r)
			return true
		}
	}
	return false
}

// follows reports whether a number is the next one of a list.
func (o ordinalSeen) follows(last ordinalSeen) bool {
	return o.shape == last.shape && o.value == last.value+1
}

// isNext reports whether the marker of an item has the number after that of the last item.
func isNext(marker, last string) bool {
	for _, a := range readings(word{text: last}, 0) {
		if slices.ContainsFunc(readings(word{text: marker}, 0), func(r ordinalSeen) bool { return r.follows(a) }) {
			return true
		}
	}
	return false
}

// note keeps the last number of a list.
func (sp *splitter) note(r ordinalSeen) {
	if sp.lists == nil {
		sp.lists = map[string]ordinalSeen{}
	}
	sp.last, sp.lists[r.shape] = r, r
}

// leastLarge is the least number in parentheses that no list begins with.
const leastLarge = 100

// areaCode and subscriber match the parts of a telephone number.
var (
	areaCode   = pattern.New(`^\(\d{2,3}\)$`)
	subscriber = pattern.New(`^\d{3,4}[-–.]\d{4}\b`)
)

// isPhone reports whether words begin with a telephone number, such as (512) 555-0100.
func isPhone(words []word) bool {
	return len(words) > 1 && areaCode.MatchString(words[0].text) && subscriber.MatchString(words[1].text)
}

// isNegative reports whether words are a row of amounts whose first is negative: "(36) 12 (7)", "(591) $".
func isNegative(words []word) bool {
	return len(words) > 1 && words[0].text[0] == '(' && !slices.ContainsFunc(words, func(w word) bool {
		return !isAmount(w) && !isSign(w)
	})
}

// outdented reports whether line i may belong to an item whose first line is indented, as in laws: that line is full, and the
// second one goes on with its sentence or begins at the left edge of the column.
func (p *piece) outdented(r region, i int, em float64) bool {
	first, second := p.lines[0], r.lines[i]
	if len(p.lines) > 1 {
		return p.lines[1].left < first.left-0.6*em
	}
	if p.marker == bulletMarker || second.left >= first.left-0.6*em || !first.reaches(r.lines, i) {
		return false
	}
	ends, begins := endsSentence(first.text()), startsNew(second.text())
	return !ends && !begins || abs(second.left-r.left) < 0.6*em && (!ends || !begins)
}
