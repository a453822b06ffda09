package app

import (
	"slices"
	"testing"
)

// Of two sentences with the same words that of the better passage is quoted first; what shares only parts of words is left
// out wherever it is from, unless there is nothing else.
func TestQuotationsOfBetterPassagesComeFirst(t *testing.T) {
	t.Parallel()
	const good, alike, parts = "The crane stops at a wind speed of 22 m/s.", "The crane stops at a wind speed of 30 m/s.", "A window."
	for name, c := range map[string]struct {
		texts []string
		worth []float64
		want  []int
	}{
		"the second is better": {[]string{good, alike}, []float64{0.5, 0.9}, []int{1, 0}},
		"the first is better":  {[]string{good, alike}, []float64{0.9, 0.5}, []int{0, 1}},
		"equal":                {[]string{good, alike}, []float64{0.5, 0.5}, []int{0, 1}},
		"parts of words":       {[]string{parts, good, alike}, []float64{1, 0.2, 0.3}, []int{2, 1}},
		"nothing else":         {[]string{parts, "Nothing."}, []float64{0.1, 1}, []int{0}},
		"nothing":              {[]string{"Zzz."}, []float64{1}, nil},
	} {
		if got := (quotations{}).Rank("wind speed of the crane", c.texts, c.worth); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
