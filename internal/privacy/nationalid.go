package privacy

import (
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// nationalID is a number that a state gives to a person. Only numbers with a check or an unmistakable form are
// included.
type nationalID struct {
	form  *pattern.Pattern
	valid func(text string) bool
}

var nationalForms = []nationalID{
	{pattern.New(`[0-9]{3}-[0-9]{2}-[0-9]{4}`), socialSecurity},
	{
		pattern.New(`(?i)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]`),
		nationalInsurance,
	},
	{pattern.New(`(?i)[XYZ0-9][ -]?[0-9]{7}[ -]?[A-HJ-NP-TV-Z]`), spanish},
	{pattern.New(`(?i)[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPR-T][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]`), italian},
	{pattern.New(`[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}`), french13},
	{pattern.New(`756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}`), swiss},
	{pattern.New(`[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}`), brazilian},
	{pattern.New(`[0-9]{2}(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{5}`), polish},
	{pattern.New(`(?:19|20)?[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[-+][0-9]{4}`), swedish},
}

func nationalIDs(text string) (found [][2]int) {
	for _, id := range nationalForms {
		for _, m := range id.form.FindAllStringIndex(text, -1) {
			if apart(text, m[0], m[1]) &&
				id.valid(strings.ToUpper(strings.NewReplacer(" ", "", ".", "").Replace(text[m[0]:m[1]]))) {
				found = append(found, [2]int{m[0], m[1]})
			}
		}
	}
	return found
}

// socialSecurity is a number of the United States; 20 CFR 422.103 and the SSA's notes on randomization define
// which numbers are not assigned.
func socialSecurity(s string) bool {
	return s[:3] != "000" && s[:3] != "666" && s[0] != '9' && s[4:6] != "00" && s[7:] != "0000"
}

// nationalInsurance is a number of the United Kingdom; these prefixes are not assigned (HMRC, NIM39110).
func nationalInsurance(s string) bool { return !strings.Contains("BG GB KN NK NT TN ZZ", s[:2]) }

// spanish is a DNI or NIE: the letter is the number modulo 23 (Real Decreto 1553/2005, 11).
func spanish(s string) bool {
	s = strings.ReplaceAll(s, "-", "")
	first := strings.IndexByte("XYZ", s[0])
	if first < 0 {
		first = int(s[0] - '0')
	}
	n, err := strconv.Atoi(strconv.Itoa(first) + s[1:8])
	return err == nil && "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == s[8]
}

// italian is a codice fiscale (DM 23 December 1976, 6).
func italian(s string) bool {
	// The values of characters at odd positions, from 0 and A on.
	odd := [...]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}
	sum := 0
	for i := range 15 {
		v := int(s[i] - '0')
		if s[i] >= 'A' {
			v = int(s[i] - 'A')
		}
		if i%2 == 0 {
			v = odd[v]
		}
		sum += v
	}
	return s[15] == byte('A'+sum%26)
}

// french13 is a NIR: its last two digits are 97 minus the remainder modulo 97; Corsican numbers contain
// letters.
func french13(s string) bool {
	s = strings.NewReplacer("2A", "19", "2B", "18").Replace(s)
	n, err := strconv.Atoi(s[:13])
	key, keyErr := strconv.Atoi(s[13:])
	return err == nil && keyErr == nil && 97-n%97 == key
}

// swiss is an AHV number: an EAN-13.
func swiss(s string) bool {
	sum := 0
	for i, c := range s[:12] {
		sum += int(c-'0') * (1 + i%2*2)
	}
	return (10-sum%10)%10 == int(s[12]-'0')
}

// brazilian is a CPF.
func brazilian(s string) bool {
	d := digitsOf(s)
	check := func(n int) byte {
		sum := 0
		for i := range n {
			sum += int(d[i]-'0') * (n + 1 - i)
		}
		return byte('0' + sum*10%11%10)
	}
	return strings.Trim(d, d[:1]) != "" && check(9) == d[9] && check(10) == d[10]
}

// polish is a PESEL.
func polish(s string) bool {
	sum := 0
	for i, w := range []int{1, 3, 7, 9, 1, 3, 7, 9, 1, 3} {
		sum += int(s[i]-'0') * w
	}
	return (10-sum%10)%10 == int(s[10]-'0')
}

// swedish is a personnummer: the last ten digits pass Luhn's check.
func swedish(s string) bool {
	d := digitsOf(s)
	return luhn(d[len(d)-10:])
}
