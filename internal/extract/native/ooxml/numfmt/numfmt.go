// Package numfmt formats the numbers of a spreadsheet by the kind of their format codes (ECMA-376 part 1,
// 18.8.30): dates, times and durations in ISO 8601, percentages with a percent sign, numbers that are codes
// with their zeros, anything else at full precision.
package numfmt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of a format code.
type Kind uint8

// The kinds of formats.
const (
	General Kind = iota
	Percent
	Date     // may have a time
	Time     // of the day
	Duration // may exceed 24 hours
)

// BuiltIn returns the kind of a built-in format (18.8.30), which a file need not define.
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

// Parse returns the kind of a format code. Only its first section, for positive numbers, counts.
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

// maxSerial is the day after 9999-12-31, the last date in Excel.
const maxSerial = 2958466

// Format formats a number as stored in a file. A value that is not a number is returned unchanged. epoch1904
// counts days from 1904-01-01 instead of 1900-01-01.
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
		return value // a long integer keeps all its digits
	}
	return number(f, 15)
}

// number formats f with the precision of Excel, and without an exponent for ordinary magnitudes.
func number(f float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', digits, 64), 64) // FormatFloat's own output
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
	case serial < 60: // serial 60 is 1900-02-29, which exists only in Excel
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
