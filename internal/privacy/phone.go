package privacy

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

var (
	// international is an E.164 number as people write it: +49 (0)30 123-456, 0049 30 123456.
	international = pattern.New(`(?:\+|\b00)[1-9][0-9]{0,2}(?:[ .\-/]?\(?[0-9]{1,5}\)?){1,7}` + extension)
	// northAmerican is a number of the North American Numbering Plan: area and office codes begin with 2 to 9.
	northAmerican = pattern.New(`(?:\+?1[ .-]?)?(?:\([2-9][0-9]{2}\)[ -]?|[2-9][0-9]{2}[.-])[2-9][0-9]{2}[ .-][0-9]{4}` + extension)
	// french is a number in five pairs.
	french = pattern.New(`0[1-9](?:[ .-][0-9]{2}){4}`)
	// national is any number after a word such as "phone".
	national = pattern.New(`\(?0?[0-9](?:[ .\-/()]{0,3}[0-9]){5,13}`)
	inHouse  = pattern.New(` ?(?:x|ext\.?|#) ?[0-9]{1,6}$`)
	called   = pattern.New(`(?i)(?:\b(?:tel|tél|telefon[oe]?|téléphone|telephone|phone|ph|fon|mobile?|mob|móvil|cell|celular|handy|mobil|fax|telefax|hotline|durchwahl|call|whatsapp|fixnetz|portable|gsm|tlf|puh)\b|☎|📞|✆)\s*(?:no|nr|num|number|nummer|us at|us|me at|me)?[\s.:#]*$`)
)

// sum is an amount with a sign and thousands in groups: +1 234 567,89.
var sum = pattern.New(`^\+[0-9]{1,3}(?:[ .][0-9]{3})+[.,][0-9]{1,2}(?:[^0-9]|$)`)

// date is a day: call 2024-01-05 12:30.
var date = pattern.New(`^(?:[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4})(?:[^0-9]|$)`)

// separators may be between the groups of a number, not at its end.
const separators = " .-/("

// extension is an internal extension.
const extension = `(?: ?(?:x|ext\.?|#) ?[0-9]{1,6})?`

const (
	minPhone = 7  // digits of the shortest number with its country code
	maxPhone = 15 // of the longest (E.164, 6.2.1)
	mostCuts = 5  // of a match: its extension and four groups
	lookBack = 40 // bytes before a number that are searched for a word that identifies it
)

func phones(text string) (found [][2]int) {
	add := func(pattern *pattern.Pattern, sure func(start, end int) bool) {
		for at := 0; ; {
			m := pattern.FindStringIndex(text[at:])
			if m == nil {
				return
			}
			start, next := at+m[0], at+m[1]
			if end := phoneEnd(text, start, next, sure); end > 0 {
				found = append(found, [2]int{start, end})
				next = end // another may follow
			}
			at = next
		}
	}
	add(international, func(start, end int) bool {
		return callingCode(text[start:end]) && (text[start] == '+' || !inRow(text, start, end))
	})
	add(northAmerican, func(int, int) bool { return true })
	add(french, func(start, end int) bool { return !isDate(text[start:end]) && !inRow(text, start, end) })
	add(national, func(start, end int) bool {
		return !date.MatchString(text[start:end]) && called.MatchString(text[max(start-lookBack, 0):start])
	})
	return found
}

// phoneEnd returns the end of the longest number within a match, or 0. The match may go on with a post code, a date or
// a sum: groups are left off until what is left can be a number.
func phoneEnd(text string, start, end int, sure func(start, end int) bool) int {
	if sum.MatchString(text[start:min(end+4, len(text))]) {
		return 0
	}
	for range mostCuts {
		end = start + len(strings.TrimRight(text[start:end], separators))
		main := strings.TrimRight(inHouse.ReplaceAllString(text[start:end], ""), separators)
		n := len(digitsOf(main))
		if n < minPhone {
			return 0
		}
		if n <= maxPhone && apart(text, start, end) && sure(start, start+len(main)) {
			return end
		}
		if cut := start + len(main); cut < end {
			end = cut
			continue
		}
		end = start + len(strings.TrimRight(main, "0123456789)"))
	}
	return 0
}

// callingCode reports whether a number begins with a country code (ITU-T E.164.D).
func callingCode(number string) bool {
	digits := strings.TrimPrefix(digitsOf(number), "00")
	if strings.HasPrefix(number, "+") {
		digits = digitsOf(number)
	}
	if len(digits) < minPhone {
		return false
	}
	if digits[0] == '1' || digits[0] == '7' {
		return len(digits) == 11
	}
	return strings.Contains(twoDigitCodes, " "+digits[:2]+" ") || strings.Contains(threeDigitCodes, " "+digits[:3]+" ")
}

// The codes, each between spaces.
const (
	twoDigitCodes = " 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 " +
		" 64 65 66 81 82 84 86 90 91 92 93 94 95 98 "
	threeDigitCodes = " 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 " +
		"238 239 240 241 242 243 244 " +
		" 245 246 247 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 " +
		"297 298 299 350 " +
		" 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 " +
		"420 421 423 500 " +
		" 501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 " +
		"678 679 680 681 " +
		" 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 878 880 881 882 883 886 888 960 " +
		"961 962 963 964 " +
		" 965 966 967 968 970 971 972 973 974 975 976 977 979 992 993 994 995 996 998 "
)

// inRow reports whether a number is in a row of others, as in a table or a longer number in groups.
func inRow(text string, start, end int) bool {
	return start > 1 && text[start-1] == ' ' && isDigit(text[start-2]) || end+1 < len(text) && text[end] == ' ' &&
		isDigit(text[end+1])
}

// isDate reports whether pairs of digits are more likely a date with a time, for example 01.02.20 24 10.
func isDate(text string) bool { return strings.Count(text, ".") > 0 && strings.Count(text, ".") < 4 }
