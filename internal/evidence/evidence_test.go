package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/evidence"
)

func unsupported(source, text string) string {
	var all []string
	for _, c := range evidence.NewSource(source).Unsupported(text) {
		all = append(all, fmt.Sprintf("%s %s", c.Kind, c.Text))
	}
	return strings.Join(all, "; ")
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, text, want string }{
		{"It cost 1,234.5 euros.", "1.234,5 €", ""},
		{"It cost 1.234,50 Euro.", "1,234.5", ""},
		{"Es sind 1 234,5 Euro.", "1234.5", ""},
		{"1 234 567 inhabitants", "1,234,567 inhabitants; 1.234.567", ""},
		{"1'234'567", "1234567", ""},
		{"12% of them", "12 % of them, 12 percent", ""},
		{"12 %", "13 %", "number 13"},
		{"a share of 12.5", "12,5 and 12.50", ""},
		{"1.234 may be either", "1234 or 1,234", ""},
		{"a ratio of 0.125", "125", "number 125"},
		{"about 1,500,000 tonnes", "1.5 million tonnes", ""},
		{"1.5 million tonnes", "1,500,000 tonnes", ""},
		{"3 Mrd. Euro", "3 billion euros", ""},
		{"1.5 million", "1.6 million", "number 1.6"},
		{"on 2024-05-03 at 09:30", "on 3.5.2024 at 9:30", ""},
		{"on 2024-05-03", "on 2024-05-04", "number 2024-05-04"},
		{"version 4.3.1", "version 4.3.1", ""},
		{"version 4.3.1", "version 4.3.2", "number 4.3.2"},
		{"In 2019 345 ships came", "345 ships in 2019", ""},
		{"12 345 ships", "12 and 345", ""},
		{"١٢٣ سفينة", "123 ships", ""},
		{"１２ ships", "12 ships", ""},
		{"12 ships", "nobody", ""},
		{"no number", "1. first\n2. second\n3) third", ""},
		{"no number", "- 7 ships, 7 tugs", "number 7"},
		{"007", "7", ""},
		{"0.0", "0", ""},
		{"10", "1", "number 1"},
		{"100", "1 hundred", ""},
		{"pages 12-15", "from 12 to 15", ""},
	} {
		if got := unsupported(tt.source, tt.text); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.text, tt.source, got, tt.want)
		}
	}
}

// TestHasNumbers: all numbers of a value count, also one that a list could begin with.
func TestHasNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, value string
		want          bool
	}{
		{"Total 1.234,50 EUR", "EUR 1,234.50", true},
		{"Total 12.00 EUR", "999. EUR", false},
		{"Total 999,00 EUR", "999. EUR", true},
		{"12. März", "13) März", false},
		{"5 March, 12 pieces", "12. März\n5. März", true},
		{"12. März", "12. März\n5. März", false},
		{"no number", "none, but “words”", true},
	} {
		if got := evidence.NewSource(tt.source).HasNumbers(tt.value); got != tt.want {
			t.Errorf("%q in %q: %v", tt.value, tt.source, got)
		}
	}
}

func TestQuotations(t *testing.T) {
	t.Parallel()
	const source = "The harbour master said: “No ship may leave\nbefore the tide, not even a pilot boat — at any " +
		"price.” Der Kran steht still."
	for _, tt := range []struct{ text, want string }{
		{`He said "no ship may leave before the tide".`, ""},
		{"He said “No ship may leave ... at any price”.", ""},
		{"Er sagte: „Der Kran steht still.“", ""},
		{"«Der Kran […] still»", ""},
		{"“At any price … no ship may leave”", "quotation At any price … no ship may leave"},
		{"He said “every ship may leave”.", "quotation every ship may leave"},
		{`It's a 5" tape and isn't "quoted"`, `number 5; quotation quoted`},
		{"“!”", ""},
	} {
		if got := unsupported(source, tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := unsupported("港は閉鎖された。船は出られない。", "「船は出られない」と言った"); got != "" {
		t.Errorf("Japanese: %q", got)
	}
}

// A text's numbers and quotations are found in the text itself, in whatever notation.
func TestSourceBearsItselfOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z ]{0,8}[0-9 .,':/-]{0,12}[“”" %…]{0,2}){0,6}`).Draw(t, "text")
		if got := evidence.NewSource(text).Unsupported(text); len(got) > 0 {
			t.Fatalf("%q: %v", text, got)
		}
	})
}

// Numbers of another value are reported, whatever separators are used.
func TestOtherNumbersAreFoundOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.IntRange(1000, 999_999_999).Draw(t, "a"), rapid.IntRange(1000, 999_999_999).Draw(t, "b")
		mark := rapid.SampledFrom([]string{"", ".", ",", " ", "'", "\u202f"}).Draw(t, "mark")
		got := evidence.NewSource(fmt.Sprint("They were ", grouped(a, mark), ".")).
			Unsupported(fmt.Sprint(grouped(b, ",")))
		same := strings.TrimRight(fmt.Sprint(a), "0") == strings.TrimRight(fmt.Sprint(b), "0")
		if a == b && len(got) > 0 || a != b && len(got) == 0 && !same && a%1000 != b && b > 999_999 {
			t.Fatalf("%d with %q for %d: %v", b, mark, a, got)
		}
	})
}

func grouped(n int, mark string) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + mark + text[i:]
	}
	return text
}
