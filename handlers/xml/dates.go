package xml

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// date is a day of the calendar.
type date struct{ year, month, day int }

// valid reports whether there is such a day, of which an invoice may speak.
func (d date) valid() bool {
	at := time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC)
	return d.year >= 1900 && d.year < 2200 && d.month >= 1 && d.month <= 12 && at.Day() == d.day
}

var (
	// dateValue is a value that is a date as a whole, or one with a time.
	dateValue = pattern.New(`^\s*(\d{1,4}(?:\. ?|[/-])\d{1,2}(?:\. ?|[/-])\d{1,4})(?:[T ]\d{1,2}:[\d:.,]*\s*(?:Z|[+-][\d:]+)?)?\s*$`)
	// numericDates are numbers with marks between them, of which three may be a date.
	numericDates = pattern.New(`\d+(?:(?:\. ?|[/-])\d+){2,}`)
	mark         = pattern.New(`\. ?|[/-]`)
	plainDate    = pattern.New(`\d+`) // 20240503
	basicDate    = pattern.New(`^\s*((?:19|20)\d{6})\s*$`)
	dayFirst     = pattern.New(`(\d+)(?:st|nd|rd|th|er|\.?(?:ste|[eoa])[\s.-]|[.°])?[\s/-]*(?:(?:de|of)\s+)?(\p{L}{3,})` +
		`[\s.,/-]*(?:(?:de|del)\s+)?['’]?(\d+)`)
	monthFirst = pattern.New(`(\p{L}{3,})[\s.]*(\d+)(?:st|nd|rd|th)?[\s,]+(\d{4})`)
	eastern    = pattern.New(`(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2})`)
	// afterDate is what a value may have after a date in words: a time, as "10:30 Uhr".
	afterDate = pattern.New(`^[日일]?[\s.,;]*(?:(?:\p{L}{1,3}\s+)?\d{1,2}:[\d:.,]+\s*(?:[\p{L}.]{1,4}|[+-][\d:]+)?)?\s*$`)
)

// dates are the readings of a value that is a date; none: it is something else. 3/5/2024 has two. only: the value can't
// be anything but a date, while 20240503 may be a number.
func (l leaf) dates() (readings []date, only bool) {
	if l.number {
		return nil, false
	}
	if m := dateValue.FindStringSubmatch(l.value); m != nil {
		readings = numeric(m[1])
		return readings, len(readings) > 0
	}
	if m := basicDate.FindStringSubmatch(l.value); m != nil {
		return basic(m[1]), false
	}
	readings = dateWithin(l.value)
	return readings, len(readings) > 0
}

// dateWithin are the readings of a value that has a date and no other number, except for a time after it. An address such as
// "Meir 12, 2000 Antwerpen" has more words.
func dateWithin(value string) []date {
	value = small(value)
	for _, form := range []*pattern.Pattern{dayFirst, monthFirst, eastern, numericDates} {
		at := form.FindStringIndex(value)
		if at == nil || strings.ContainsAny(value[:at[0]], "0123456789") || !afterDate.MatchString(value[at[1]:]) {
			continue
		}
		if all := append(inWords(value[at[0]:at[1]]), numeric(value[at[0]:at[1]])...); len(all) > 0 {
			return all
		}
	}
	return nil
}

// small is a text in small letters, with plain digits and spaces.
func small(text string) string { return strings.ToLower(norm.NFKC.String(text)) }

// datesIn are the dates of a text, in all readings.
func datesIn(text string) map[date]bool {
	text = small(text)
	readings := inWords(text)
	for _, run := range numericDates.FindAllString(text, -1) {
		readings = append(readings, numeric(run)...)
	}
	for _, run := range plainDate.FindAllString(text, -1) {
		readings = append(readings, basic(run)...)
	}
	all := map[date]bool{}
	for _, d := range readings {
		all[d] = true
	}
	return all
}

// basic is the date that eight digits are, in the basic format of ISO 8601 (102 in UN/CEFACT's list 2379).
func basic(run string) []date {
	if len(run) != len("20240503") {
		return nil
	}
	return existing(date{number(run[:4]), number(run[4:6]), number(run[6:])})
}

// inWords are the dates of a text in small letters that have a month in words, or the signs of East Asia.
func inWords(text string) (all []date) {
	for _, m := range overlapping(eastern, text) {
		all = append(all, existing(date{number(m[0]), number(m[1]), number(m[2])})...)
	}
	for _, m := range overlapping(dayFirst, text) {
		all = append(all, spelled(m[1], m[0], m[2])...)
	}
	for _, m := range overlapping(monthFirst, text) {
		all = append(all, spelled(m[0], m[1], m[2])...)
	}
	return all
}

// overlapping are the groups of all matches. The last group of one may be the first of the next: "No. 12 of 3 May 2024".
func overlapping(form *pattern.Pattern, text string) (all [][3]string) {
	for {
		at := form.FindStringSubmatchIndex(text)
		if at == nil {
			return all
		}
		all = append(all, [3]string{text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]})
		text = text[at[6]:]
	}
}

// spelled are the readings of a date with the name of its month; of "jui" there are two.
func spelled(name, day, year string) (all []date) {
	for i, begins := range months {
		if slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(name, b) || strings.HasPrefix(b, name) }) {
			all = append(all, existing(date{full(year), i + 1, number(day)})...)
		}
	}
	return all
}

// existing are those of the dates that are valid.
func existing(readings ...date) (all []date) {
	for _, d := range readings {
		if d.valid() {
			all = append(all, d)
		}
	}
	return all
}

// numeric are the readings of numbers with marks: any three of them in a row that have the same mark between them.
func numeric(run string) (all []date) {
	marks, fields := mark.FindAllString(run, -1), mark.Split(run, -1)
	for i := 0; i+2 < len(fields); i++ {
		if marks[i][0] != marks[i+1][0] {
			continue
		}
		a, b, c := fields[i], fields[i+1], fields[i+2]
		var readings []date
		switch {
		case len(a) == 4:
			readings = []date{{number(a), number(b), number(c)}}
		case len(c) == 4, len(c) == 2 && len(a) <= 2:
			readings = []date{{full(c), number(b), number(a)}, {full(c), number(a), number(b)}}
		}
		if len(a) == 2 && len(c) == 2 && marks[i] == "-" {
			readings = append(readings, date{full(a), number(b), number(c)})
		}
		all = append(all, existing(readings...)...)
	}
	return all
}

// full is a year; one of two digits is of this century.
func full(year string) int {
	if len(year) == 2 {
		return 2000 + number(year)
	}
	return number(year)
}

// number is -1 for what has too many digits.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// months are the beginnings, of three letters or more, of the names of months in English, German, French, Spanish, Italian,
// Dutch and Portuguese.
var months = [...][]string{
	{"jan", "ene", "gen", "jän", "jae"},
	{"feb", "fév", "fev"},
	{"mar", "mär", "mae", "maa", "mrt", "mrz"},
	{"apr", "avr", "abr"},
	{"may", "mai", "mag", "mei"},
	{"jun", "juin", "giu"},
	{"jul", "juil", "lug"},
	{"aug", "aoû", "aou", "ago"},
	{"sep", "set"},
	{"oct", "okt", "ott", "out"},
	{"nov"},
	{"dec", "dez", "déc", "dic"},
}
