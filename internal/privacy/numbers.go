package privacy

import (
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
