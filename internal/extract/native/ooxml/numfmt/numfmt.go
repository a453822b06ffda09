// Package numfmt shows the numbers of a spreadsheet as their format codes mean them (ECMA-376 part 1,
// 18.8.30): dates, times and durations in ISO 8601, percentages with their sign, everything else in
// full, whatever the decimals that the format shows.
package numfmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is what a format code makes of a number.
type Kind uint8

// The kinds of formats.
const (
	General Kind = iota
	Percent
	Date     // may have a time
	Time     // of the day
	Duration // more than 24 hours are possible
)

// BuiltIn is the kind of a format that a file need not define (18.8.30).
func BuiltIn(id int) Kind {
	switch {
	case id == 9 || id == 10:
		return Percent
	case id >= 14 && id <= 17, id == 22, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id == 57, id == 58:
		return Date
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 55, id == 56, id == 45, id == 47:
		return Time
	case id == 46:
		return Duration
	}
	return General
}

// Parse is the kind of a format code. Only its first section counts, the one for positive numbers.
func Parse(code string) Kind {
	code, duration := letters(code)
	code = strings.ReplaceAll(strings.ReplaceAll(code, "am/pm", "h"), "a/p", "h")
	switch {
	case strings.Contains(code, "general"):
		return General
	case duration:
		return Duration
	case strings.ContainsAny(code, "yd"):
		return Date
	case strings.ContainsAny(code, "hs"):
		return Time
	case strings.Contains(code, "m"):
		return Date
	case strings.Contains(code, "%"):
		return Percent
	}
	return General
}

// letters drops what a code shows literally, colours and locales, and everything after the first
// section. duration: it counts hours, minutes or seconds without an end, e.g. [h].
func letters(code string) (left string, duration bool) {
	var b strings.Builder
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case ';':
			return b.String(), duration
		case '\\', '_', '*': // the next character is shown, is a gap, or fills
			i++
		case '"':
			end := strings.IndexByte(code[i+1:], '"')
			if end < 0 {
				return b.String(), duration
			}
			i += end + 1
		case '[':
			end := strings.IndexByte(code[i:], ']')
			if end < 0 {
				return b.String(), duration
			}
			inner := strings.ToLower(code[i+1 : i+end])
			duration = duration || inner != "" && (strings.Trim(inner, "h") == "" || strings.Trim(inner, "m") == "" ||
				strings.Trim(inner, "s") == "")
			i += end
		default:
			b.WriteByte(c | lower(c))
		}
	}
	return b.String(), duration
}

// lower is the bit that makes a letter of ASCII a small one.
func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return 0x20
	}
	return 0
}

// maxSerial is the day after 9999-12-31, the last date that Excel knows.
const maxSerial = 2958466

// Format shows a number as stored in a file. What is not a number is returned as it is. epoch1904: days
// are counted from 1904-01-01, not from 1900-01-01.
func Format(value string, kind Kind, epoch1904 bool) string {
	value = strings.TrimSpace(value)
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return value
	}
	switch kind {
	case Percent:
		return number(f*100, 12) + "%"
	case Date, Time:
		if f >= 0 && f < maxSerial {
			return date(f, kind, epoch1904)
		}
	case Duration:
		if math.Abs(f) < maxSerial {
			return duration(f)
		}
	case General:
	}
	if !strings.ContainsAny(value, ".eE") {
		return value // a long whole number keeps all of its digits
	}
	return number(f, 15)
}

// number writes a number with as many digits as Excel keeps, without an exponent where people
// would write none.
func number(f float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', digits, 64), 64) // it was just written
	if a := math.Abs(rounded); a != 0 && (a < 1e-6 || a >= 1e15) {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	if rounded == 0 {
		return "0"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func date(serial float64, kind Kind, epoch1904 bool) string {
	day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case epoch1904:
		day = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case serial < 60: // 1900-02-29, serial 60, is a day that Excel alone knows
		day = day.AddDate(0, 0, 1)
	}
	days, part := math.Modf(serial)
	seconds := int(math.Round(part * 24 * 60 * 60))
	at := day.AddDate(0, 0, int(days)).Add(time.Duration(seconds) * time.Second)
	switch {
	case days == 0 && !epoch1904 && (kind == Time || seconds > 0):
		return at.Format(time.TimeOnly)
	case days == 0 && kind == Time:
		return at.Format(time.TimeOnly)
	case seconds == 0 && kind == Date:
		return at.Format(time.DateOnly)
	}
	return at.Format(time.DateTime)
}

func duration(days float64) string {
	sign := ""
	if days < 0 {
		sign, days = "-", -days
	}
	seconds := int64(math.Round(days * 24 * 60 * 60))
	return fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}
