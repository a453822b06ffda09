package numfmt_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/numfmt"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]numfmt.Kind{
		"General": numfmt.General, "0.00": numfmt.General, "#,##0.00 €": numfmt.General, "0.00E+00": numfmt.General,
		"":         numfmt.General,
		`0 "days"`: numfmt.General, `0\d`: numfmt.General, "[Red]0.0": numfmt.General, "0_d": numfmt.General,
		"@":  numfmt.General,
		"0%": numfmt.Percent, `0.0\ %`: numfmt.Percent, "0;0%": numfmt.General,
		"yyyy-mm-dd": numfmt.Date, "[$-409]d\\-mmm\\-yy;@": numfmt.Date, "mmm": numfmt.Date,
		"DD.MM.YYYY hh:mm": numfmt.Date,
		"h:mm AM/PM":       numfmt.Time, "mm:ss": numfmt.Time, "[h]:mm": numfmt.Duration, "[mm]:ss": numfmt.Duration,
		"[": numfmt.General, `"open`: numfmt.General,
	} {
		if got := numfmt.Parse(code); got != want {
			t.Errorf("%q: got %d, want %d", code, got, want)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value string
		kind  numfmt.Kind
		want  string
	}{
		{"42", numfmt.General, "42"},
		{"0.30000000000000004", numfmt.General, "0.3"},
		{"4.4999999999999998E-2", numfmt.General, "0.045"},
		{"1E-9", numfmt.General, "1e-09"},
		{"1.5E+20", numfmt.General, "1.5e+20"},
		{"12345678901234567890", numfmt.General, "12345678901234567890"},
		{"-0.0", numfmt.General, "0"},
		{"no number", numfmt.Date, "no number"},
		{"NaN", numfmt.Date, "NaN"},
		{"0.07", numfmt.Percent, "7%"},
		{"0.12345", numfmt.Percent, "12.345%"},
		{"45292", numfmt.Date, "2024-01-01"},
		{"45292.75", numfmt.Date, "2024-01-01 18:00:00"},
		{"45292.999999", numfmt.Date, "2024-01-02 00:00:00"},
		{"1", numfmt.Date, "1900-01-01"},
		{"59", numfmt.Date, "1900-02-28"},
		{"61", numfmt.Date, "1900-03-01"},
		{"0.5", numfmt.Date, "12:00:00"},
		{"0.5", numfmt.Time, "12:00:00"},
		{"45292", numfmt.Time, "2024-01-01 00:00:00"},
		{"-5", numfmt.Date, "-5"},
		{"9e99", numfmt.Date, "9e+99"},
		{"1.5", numfmt.Duration, "36:00:00"},
		{"-0.25", numfmt.Duration, "-6:00:00"},
	} {
		if got := numfmt.Format(tt.value, tt.kind, false); got != tt.want {
			t.Errorf("%s as %d: got %q, want %q", tt.value, tt.kind, got, tt.want)
		}
	}
	if got := numfmt.Format("0", numfmt.Date, true); got != "1904-01-01" {
		t.Errorf("from 1904: got %q", got)
	}
}

func TestBuiltIn(t *testing.T) {
	t.Parallel()
	for id, want := range map[int]numfmt.Kind{
		0: numfmt.General, 4: numfmt.General, 9: numfmt.Percent, 14: numfmt.Date,
		20: numfmt.Time, 22: numfmt.Date, 46: numfmt.Duration, 49: numfmt.General,
	} {
		if got := numfmt.BuiltIn(id); got != want {
			t.Errorf("%d: got %d, want %d", id, got, want)
		}
	}
}
