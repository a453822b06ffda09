package privacy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// ibanStart matches the start of an IBAN: country and check digits (ISO 13616).
var ibanStart = pattern.New(`(?i)[A-Z]{2}[0-9]{2}`)

// ibanLengths are the registered lengths by country (SWIFT, IBAN Registry release 99).
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29,
	"BY": 28, "CH": 21, "CR": 22,
	"CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18,
	"FO": 18, "FR": 27, "GB": 22,
	"GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23,
	"IS": 26, "IT": 27, "JO": 30,
	"KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24,
	"ME": 22, "MK": 19, "MN": 20,
	"MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25,
	"QA": 29, "RO": 24, "RS": 22,
	"RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28,
	"TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}

func ibans(text string) (found [][2]int) {
	for at := 0; at < len(text); {
		m := ibanStart.FindStringIndex(text[at:])
		if m == nil {
			return found
		}
		start := at + m[0]
		at = start + 1
		length := ibanLengths[strings.ToUpper(text[start:start+2])]
		end, plain := alphanumerics(text, start, length)
		if length > 0 && len(plain) == length && apart(text, start, end) && mod97(plain) == 1 {
			found = append(found, [2]int{start, end})
			at = end
		}
	}
	return found
}

// alphanumerics returns n letters and digits from start on, with at most one space or dash between two of them.
func alphanumerics(text string, start, n int) (end int, plain string) {
	var b strings.Builder
	separated := true
	for end = start; end < len(text) && b.Len() < n; end++ {
		switch c := text[end]; {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z':
			b.WriteByte(c)
			separated = false
		case 'a' <= c && c <= 'z':
			b.WriteByte(c - 'a' + 'A')
			separated = false
		case (c == ' ' || c == '-' || c == '\n') && !separated:
			separated = true
		default:
			return end, b.String()
		}
	}
	return end, b.String()
}

// mod97 returns the remainder of ISO 7064 MOD 97-10, with the first four characters moved to the end.
func mod97(iban string) int {
	rest := 0
	for _, c := range iban[4:] + iban[:4] {
		if c >= 'A' {
			rest = (rest*100 + int(c-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(c-'0')) % 97
		}
	}
	return rest
}

// maxCard is the number of digits of the longest card number (ISO/IEC 7812-1).
const maxCard = 19

func cards(text string) (found [][2]int) {
	for at := 0; at < len(text); {
		if !isDigit(text[at]) {
			at++
			continue
		}
		if end := cardEnd(text, at); end > 0 {
			found = append(found, [2]int{at, end})
			at = end
			continue
		}
		for at < len(text) && isDigit(text[at]) { // a number begins with a group
			at++
		}
	}
	return found
}

// cardEnd returns the end of the longest card number that begins with a group of digits, or 0. What follows it on the
// line, such as an expiry date, a security code or another number, is not part of it.
func cardEnd(text string, start int) int {
	ends := groupEnds(text, start)
	for _, end := range slices.Backward(ends) {
		number := text[start:end]
		digits := digitsOf(number)
		if len(digits) >= 13 && issued(digits) && luhn(digits) && grouped(number) && !inQuads(text, start, end) &&
			!continues(reversed(text[max(start-8, 0):start]), ".-/_+:") &&
			!continues([]rune(text[end:min(end+8, len(text))]), ".") {
			return end
		}
	}
	return 0
}

// groupEnds returns where the groups of digits end that are separated by one space or dash, up to maxCard digits.
func groupEnds(text string, start int) (ends []int) {
	for at, digits := start, 0; at < len(text) && isDigit(text[at]); at++ {
		for at < len(text) && isDigit(text[at]) {
			at, digits = at+1, digits+1
		}
		if digits > maxCard {
			break
		}
		ends = append(ends, at)
		if at == len(text) || text[at] != ' ' && text[at] != '-' {
			break
		}
	}
	return ends
}

// inQuads reports whether groups of four digits are in the middle of a row of such groups, as in a table of years and
// sums: a number of four groups begins or ends such a row, or has numbers of four groups beside it.
func inQuads(text string, start, end int) bool {
	before, after := 0, 0
	if end-start < 9 || isDigit(text[start+4]) { // not in groups
		return false
	}
	for at := start; at >= 5 && quad(text, at-5) && !isDigit(text[at-1]); at -= 5 {
		before++
	}
	for at := end; quad(text, at+1) && !isDigit(text[at]); at += 5 {
		after++
	}
	return before%4 != 0 && after%4 != 0
}

// quad reports whether a group of exactly four digits begins at a place.
func quad(text string, at int) bool {
	return at+4 <= len(text) && len(digitsOf(text[at:at+4])) == 4 && (at+4 == len(text) || !isDigit(text[at+4])) &&
		(at == 0 || !isDigit(text[at-1]))
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
