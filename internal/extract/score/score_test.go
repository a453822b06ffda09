package score_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/score"
)

func TestWords(t *testing.T) {
	t.Parallel()
	got := score.Words("# A [Link](http://x.org) <!-- image --> ![alt](y.png) snake\\_case &amp; hy-\nphen Übung-2 " +
		"so\u00adft")
	want := []string{"a", "link", "snake_case", "hyphen", "übung", "2", "soft"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The values are those of score.py, which uses Python's difflib.
func TestScore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reference, output string
		f1, order         float64
	}{
		{"", "", 1, 1},
		{"a b c", "", 0, 0},
		{"a b c d", "a b c d", 1, 1},
		{"a b c d", "c d a b", 1, 0.5},
		{"a b c d e", "a x c d", 2 * 3.0 / 9, 2 * 3.0 / 9},
		{"a a b a", "a b", 2 * 2.0 / 6, 2 * 2.0 / 6},
		{"p q r a b c x y", "a b c p q r y x", 1, 0.5},
	} {
		f1, order := score.Score(tt.reference, tt.output)
		if math.Abs(f1-tt.f1) > 1e-9 || math.Abs(order-tt.order) > 1e-9 {
			t.Errorf("%q, %q: %.4f %.4f, want %.4f %.4f", tt.reference, tt.output, f1, order, tt.f1, tt.order)
		}
	}
}

// The values are those of score.py, rounded as it prints them.
func TestScoreOfTrickyText(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		strings.ToUpper(tricky): "0.759 0.759",
		"ΟΔΟΣ istanbul 2x ½ e\u0301 hyphen hy-phen lone-\rcr a_b soft &lt; a": "0.269 0.269",
	} {
		f1, order := score.Score(tricky, output)
		if got := fmt.Sprintf("%.3f %.3f", f1, order); got != want {
			t.Errorf("%q: got %s, want %s", output, got, want)
		}
	}
}
