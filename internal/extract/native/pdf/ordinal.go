package pdf

import (
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
}

// readings returns the meanings of a list number: "i)" is the ninth letter or the first Roman number.
func readings(w word) []ordinalSeen {
	m := ordinal.FindStringSubmatch(w.text)
	if m == nil {
		return nil
	}
	shape := func(mark string) string { return m[1] + mark + m[3] }
	if n, err := strconv.Atoi(m[2]); err == nil {
		return []ordinalSeen{{shape("#"), n, w.left}}
	}
	var out []ordinalSeen
	letter, roman := "a", "i"
	if m[2] == strings.ToUpper(m[2]) {
		letter, roman = "A", "I"
	}
	if len(m[2]) == 1 {
		out = append(out, ordinalSeen{shape(letter), int(m[2][0]|0x20-'a') + 1, w.left})
	}
	if n := romanValue(strings.ToLower(m[2])); n > 0 {
		out = append(out, ordinalSeen{shape(roman), n, w.left})
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

// opensList returns the reading that starts or continues a list: one that follows the last number at the same
// position, or, at the start of a piece, a first number or any number in digits.
func (sp *splitter) opensList(w word, fresh bool, size float64) bool {
	rs := readings(w)
	for _, r := range rs {
		if last := sp.last; r.shape == last.shape && r.value == last.value+1 && abs(r.left-last.left) < 2*size {
			sp.last = r
			return true
		}
	}
	if !fresh {
		return false
	}
	for _, r := range rs {
		if r.value == 1 || strings.Contains(r.shape, "#") {
			sp.last = r
			return true
		}
	}
	return false
}
