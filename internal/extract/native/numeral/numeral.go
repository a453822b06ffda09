// Package numeral formats list numbers: decimal, Roman, letters, East Asian.
package numeral

import (
	"strconv"
	"strings"
)

// Format formats n in a format named as in Office Open XML (ST_NumberFormat, ECMA-376 part 1, 17.18.59). An
// unknown format is decimal.
func Format(n int, format string) string {
	switch format {
	case "none":
		return ""
	case "decimalZero":
		if n >= 0 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
	case "lowerLetter":
		return strings.ToLower(letters(n))
	case "upperLetter":
		return letters(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "upperRoman":
		return roman(n)
	case "ordinal":
		return strconv.Itoa(n) + ordinalSuffix(n)
	}
	if text, ok := eastAsian(n, format); ok {
		return text
	}
	return strconv.Itoa(n)
}

// maxRepeat is how often a letter is repeated. Larger numbers are decimal.
const maxRepeat = 30

// letters returns A…Z, AA, BB…ZZ, AAA, as Word does.
func letters(n int) string {
	if n < 1 || n > 26*maxRepeat {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	values := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	letters := []string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}
	var b strings.Builder
	for i, value := range values {
		for n >= value {
			b.WriteString(letters[i])
			n -= value
		}
	}
	return b.String()
}

func ordinalSuffix(n int) string {
	if n%100 >= 11 && n%100 <= 13 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}
