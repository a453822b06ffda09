package pdf

import (
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestVisual: texts in the order in which they are drawn from the left, for both directions of their paragraphs. The
// Hebrew letters are written from the left here, as they are drawn.
func TestVisual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		rtl  bool
		want string
	}{
		{"plain text 12", false, "plain text 12"},
		{"\u05d0\u05d1 240 \u05d2\u05d3", true, "\u05d3\u05d2 240 \u05d1\u05d0"},
		{"\u05d0\u05d1 (\u05d2\u05d3)", true, "(\u05d3\u05d2) \u05d1\u05d0"},
		{"mixed \u05d0\u05d1 and 50%", true, "and 50% \u05d1\u05d0 mixed"},
		{"mixed \u05d0\u05d1 and 50%", false, "mixed \u05d1\u05d0 and 50%"},
		{"a \u05d0 12 \u05d1 z", false, "a \u05d1 12 \u05d0 z"},
		{"\u05d0 12", false, "12 \u05d0"},
		{"\u0627\u0644\u0645 7", true, "7 \u0645\u0644\u0627"}, // joined: compared in their base forms
	} {
		if got := norm.NFKC.String(visual(c.text, c.rtl)); got != c.want {
			t.Errorf("%+q, right to left %t: %+q, want %+q", c.text, c.rtl, got, c.want)
		}
	}
}
