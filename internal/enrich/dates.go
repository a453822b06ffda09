package enrich

import (
	"net/mail"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// The range in which a document may have been created, changed or published. Earlier dates are the zero of some
// clock (1601, 1899, 1904, 1970, 1980); books have the date of their first edition.
const (
	earliestFile  = "1980-01-02T00:00:00Z"
	earliestPrint = "1450-01-01T00:00:00Z"
)

// latest is how far ahead of this machine's clock a date may be.
const latest = 48 * time.Hour

// pdfDate is a date of PDF (ISO 32000-1, 7.9.4): D:YYYYMMDDHHmmSSOHH'mm, with everything after the year
// optional.
var pdfDate = pattern.New(`^D:(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(?:(Z)(?:00'?00'?)?|([+-]\d{2})'?(\d{2})?'?)?$`)

// layouts are the date layouts of the formats; a time without an offset is UTC.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05 MST",
	"2006-01-02 15:04:05", "2006-01-02 15:04", "Mon Jan _2 15:04:05 2006", time.DateOnly, "2006/01/02", "20060102",
	"January 2, 2006", "2 January 2006",
}

// date converts a date in a document's metadata to RFC 3339 in UTC. It returns "" for a value that is not a
// date, is less precise than a day, or is implausible.
func date(text, earliest string) string {
	t, ok := parseDate(strings.TrimSpace(text))
	written := t.UTC().Format(time.RFC3339)
	if !ok || written < earliest || t.After(time.Now().Add(latest)) {
		return ""
	}
	return written
}

func parseDate(text string) (time.Time, bool) {
	if strings.HasPrefix(text, "D:") {
		return parsePDFDate(text)
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	t, err := mail.ParseDate(text)
	return t, err == nil
}

func parsePDFDate(text string) (time.Time, bool) {
	m := pdfDate.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	part := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	offset := part(m[8], "+00") + ":" + part(m[9], "00")
	t, err := time.Parse(time.RFC3339, m[1]+"-"+m[2]+"-"+m[3]+"T"+part(m[4], "00")+":"+part(m[5], "00")+":"+
		part(m[6], "00")+offset)
	return t, err == nil
}
