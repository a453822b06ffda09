package privacy

import (
	"strconv"
	"strings"
)

// maxCard is the number of digits of the longest card number (ISO/IEC 7812-1).
const maxCard = 19

// cardForms are the groups in which card numbers are printed.
var cardForms = [][]int{{4, 4, 4, 4, 3}, {4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {6, 13}}

// digitGroup is where digits of a text stand.
type digitGroup struct{ start, end int }

// cards finds the numbers of payment cards. The digits of a line that one space or dash separates may be more than a number.
func cards(text string) (found [][2]int) {
	for at := 0; at < len(text); {
		if !isDigit(text[at]) {
			at++
			continue
		}
		run := digitRun(text, at)
		found = append(found, cardsOf(text, run)...)
		at = run[len(run)-1].end
	}
	return found
}

// digitRun returns the groups of digits from a place on that one space or dash separates.
func digitRun(text string, at int) (run []digitGroup) {
	for {
		start := at
		for at < len(text) && isDigit(text[at]) {
			at++
		}
		run = append(run, digitGroup{start, at})
		if at+1 >= len(text) || text[at] != ' ' && text[at] != '-' || !isDigit(text[at+1]) {
			return run
		}
		at++
	}
}

// cardsOf finds the numbers in a run. A number in groups counts only if all of the run is one, or if it is printed as cards
// are and what is beside it is what stands beside cards: rows of other numbers, as in a report, pass the check by chance.
func cardsOf(text string, run []digitGroup) (found [][2]int) {
	if start, end := run[0].start, run[len(run)-1].end; isCard(text, start, end) && grouped(text[start:end]) {
		return [][2]int{{start, end}}
	}
	first := 0 // the first group that is in no card, nor after one
	for i := 0; i < len(run); {
		n := cardAt(text, run[i:])
		if n == 0 || n > 1 && !fits(text, run[first:i], run[i+n:]) {
			i++
			continue
		}
		found = append(found, [2]int{run[i].start, run[i+n-1].end})
		i += n
		i += afterCard(text, run[i:])
		first = i
	}
	return found
}

// cardAt returns how many groups the number has with which a run begins, zero if there is none.
func cardAt(text string, run []digitGroup) int {
	if len(run) == 0 {
		return 0
	}
	if isCard(text, run[0].start, run[0].end) {
		return 1
	}
	for _, form := range cardForms {
		if len(run) >= len(form) && printed(text, run[:len(form)], form) && isCard(text, run[0].start, run[len(form)-1].end) {
			return len(form)
		}
	}
	return 0
}

// printed reports whether groups have the lengths of a form, and the same separator.
func printed(text string, groups []digitGroup, form []int) bool {
	for i, g := range groups {
		if g.end-g.start != form[i] || i > 0 && text[groups[i-1].end] != text[groups[0].end] {
			return false
		}
	}
	return true
}

// isCard reports whether digits, with what separates them, are a number that passes all checks and stands by itself.
func isCard(text string, start, end int) bool {
	if end-start < 13 || end-start > 2*maxCard {
		return false
	}
	digits := digitsOf(text[start:end])
	return len(digits) >= 13 && len(digits) <= maxCard && issued(digits) && luhn(digits) &&
		(start > 0 && strings.IndexByte(" -", text[start-1]) >= 0 || !continues(reversed(text[max(start-8, 0):start]), "./_+:")) &&
		!continues([]rune(text[end:min(end+8, len(text))]), ".")
}

// fits reports whether the groups before and after a number may stand beside a card's. Those of a row of numbers may not:
// one of three or four digits on a side, longer ones on both. A year may be before it, an expiry date and a code after it,
// and other cards; so may the beginning or the end of a date, a time or an amount.
func fits(text string, before, after []digitGroup) bool {
	left, year := 0, false
	if n := len(before); n > 0 {
		left = beside(text, before[n-1])
		if year = left > 0 && isYear(text, before[n-1]); year && (n == 1 || beside(text, before[n-2]) == 0) {
			left = 0
		}
	}
	if year && len(after) > 0 && isYear(text, after[0]) {
		return false // a row of years
	}
	right := 0
	if after = after[afterCard(text, after):]; len(after) > 0 && cardAt(text, after) == 0 {
		right = beside(text, after[0])
	}
	short := func(digits int) bool { return digits == 3 || digits == 4 }
	return !short(left) && !short(right) && (left == 0 || right == 0)
}

// beside returns how many digits a group has if it may be one of a row of numbers: zero for an index, and for a part of a
// date, a time or an amount.
func beside(text string, g digitGroup) int {
	const parts = ".,:/"
	before := g.start > 1 && strings.IndexByte(parts, text[g.start-1]) >= 0 && isDigit(text[g.start-2])
	after := g.end+1 < len(text) && strings.IndexByte(parts, text[g.end]) >= 0 && isDigit(text[g.end+1])
	if before || after || isIndex(g) {
		return 0
	}
	return g.end - g.start
}

// afterCard returns how many groups after a number are its expiry date and code.
func afterCard(text string, after []digitGroup) (n int) {
	for range 2 {
		switch {
		case n == len(after):
			return n
		case after[n].end-after[n].start == 3, isYear(text, after[n]), isMonth(text, after[n]) && after[n].end-after[n].start == 4:
			n++
		case isMonth(text, after[n]):
			if n++; n < len(after) && (isIndex(after[n]) || isYear(text, after[n])) {
				n++
			}
		default:
			return n
		}
	}
	return n
}

func isIndex(g digitGroup) bool { return g.end-g.start <= 2 }

func isYear(text string, g digitGroup) bool {
	return g.end-g.start == 4 && text[g.start:g.end] >= "2000" && text[g.start:g.end] < "2050"
}

// isMonth reports whether a group is a month, or a month and the last digits of a year: 12, 1227.
func isMonth(text string, g digitGroup) bool {
	month := text[g.start:min(g.start+2, g.end)]
	return (g.end-g.start == 2 || g.end-g.start == 4 && text[g.start+2:g.end] >= "20" && text[g.start+2:g.end] < "50") &&
		month >= "01" && month <= "12"
}

// issued reports whether a card network issues numbers of this start and length (ISO/IEC 7812).
func issued(digits string) bool {
	prefix := func(n int) int { v, _ := strconv.Atoi(digits[:n]); return v } // they are digits
	two, four, n := prefix(2), prefix(4), len(digits)
	switch {
	case digits[0] == '4': // Visa; 13 digits are obsolete, and look like a timestamp in milliseconds
		return n == 16 || n == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case two == 36, two == 38, two == 39, four >= 3000 && four <= 3059, four == 3095: // Diners Club
		return n == 14 || n == 16 || n == 19
	case four >= 3528 && four <= 3589: // JCB
		return n >= 16
	case four == 6011, two == 64, two == 65, two == 62, two == 60, two == 81: // Discover, UnionPay, RuPay
		return n >= 16
	case two == 50, two >= 56 && two <= 69: // Maestro
		return n >= 16
	}
	return false
}

// luhn is the check of ISO/IEC 7812-1, annex B. A number of equal digits fails.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0 && strings.Trim(digits, digits[:1]) != ""
}

// grouped reports whether a number is written without groups, or in the groups of a card; a row of other
// numbers has other groups.
func grouped(text string) bool {
	groups := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '-' })
	for i, g := range groups {
		if len(groups) > 1 && (len(g) < 3 && i < len(groups)-1 || len(g) > 8) {
			return false
		}
	}
	return len(groups) <= 5
}
