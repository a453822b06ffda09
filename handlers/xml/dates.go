package xml

import (
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
	dayFirst     = pattern.New(`(\d+)(?:st|nd|rd|th|er|º|ª|\.)?[\s-]*(?:de |of )?(\p{L}{3,})[\s.,-]*(?:de |del )?(\d+)`)
	monthFirst   = pattern.New(`(\p{L}{3,})[\s.]*(\d+)(?:st|nd|rd|th)?[\s,]+(\d{4})`)
	eastern      = pattern.New(`(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2})`)
)

// dates are the readings of a value that is a date; none: it is something else. 3/5/2024 has two.
func (l leaf) dates() []date {
	if l.number {
		return nil
	}
	m := dateValue.FindStringSubmatch(l.value)
	if m == nil {
		return nil
	}
	return numeric(m[1])
}

// datesIn are the dates of a text, in all readings.
func datesIn(text string) map[date]bool {
	all := map[date]bool{}
	add := func(d date) {
		if d.valid() {
			all[d] = true
		}
	}
	text = strings.ToLower(norm.NFKC.String(text))
	for _, run := range numericDates.FindAllString(text, -1) {
		for _, d := range numeric(run) {
			add(d)
		}
	}
	for _, run := range plainDate.FindAllString(text, -1) {
		if len(run) == len("20240503") {
			add(date{number(run[:4]), number(run[4:6]), number(run[6:])})
		}
	}
	for _, m := range eastern.FindAllStringSubmatch(text, -1) {
		add(date{number(m[1]), number(m[2]), number(m[3])})
	}
	spelled := func(name, day, year string) {
		for i, begins := range months {
			for _, b := range begins {
				if strings.HasPrefix(name, b) {
					add(date{full(year), i + 1, number(day)})
				}
			}
		}
	}
	for _, m := range dayFirst.FindAllStringSubmatch(text, -1) {
		spelled(m[2], m[1], m[3])
	}
	for _, m := range monthFirst.FindAllStringSubmatch(text, -1) {
		spelled(m[1], m[2], m[3])
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
		for _, d := range readings {
			if d.valid() {
				all = append(all, d)
			}
		}
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

// months are the beginnings of the names of months in English, German, French, Spanish, Italian, Dutch and Portuguese.
var months = [...][]string{
	{"jan", "ene", "gen"},
	{"feb", "fév", "fev"},
	{"mar", "mär", "maa", "mrt"},
	{"apr", "avr", "abr"},
	{"may", "mai", "mag", "mei"},
	{"jun", "jui", "giu"},
	{"jul", "jui", "lug"},
	{"aug", "aoû", "aou", "ago"},
	{"sep", "set"},
	{"oct", "okt", "ott", "out"},
	{"nov"},
	{"dec", "dez", "déc", "dic"},
}
