package pdf

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// A number of poppler's is the same, to the bit, whether it is read by decimal or by strconv.
func TestNumberIsParseFloat(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "-", ".", "-.", "0", "-0", "-0.000000", "5.", ".5", "-.5", "1.2.3", "--1", "+1", "1e3", "inf", "NaN", "0x1p2", "1_0",
		"123456789012345", "1234567890123456", "0.000000000000001", "000000000000000.5", "999999.999999", "1000001",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		texts = append(texts, strconv.FormatFloat(random.NormFloat64()*1000, 'f', random.IntN(12), 64))
	}
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(want) || math.Abs(want) > 1e6 {
			want = 0
		}
		got := number([]byte(`word xMin="1" yMin="`+text+`"`), "yMin")
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// The name of a tag ends at a space or a slash, and a closing tag's begins with one.
func TestTagName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tag, want string }{
		{"page", "page"}, {`word xMin="1"`, "word"}, {"br/", "br"}, {"/page", "/page"}, {"/page x", "/page"}, {"b\tx", "b"}, {"", ""},
	} {
		if got := string(tagName([]byte(c.tag))); got != c.want {
			t.Errorf("%q: got %q, want %q", c.tag, got, c.want)
		}
	}
}

// normalize returns of plain letters and spaces what it does of them beside others.
func TestNormalizePlain(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", " ", "word", " two  words ", "a\tb", "a\u00a0b", "~\x7f"} {
		want, _ := strings.CutPrefix(normalize("\u2010"+s+"\u2010"), "-")
		if got := normalize(s); got != strings.TrimSpace(strings.TrimSuffix(want, "-")) {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
