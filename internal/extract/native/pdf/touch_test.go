package pdf

import "testing"

// Poppler parts a word where its font or size changes. What touches is put together again, where it can't be a note's
// number or a formula's index.
func TestTouchingParts(t *testing.T) {
	t.Parallel()
	const em = 10.0
	formula := style{size: em, math: true}
	for _, tt := range []struct {
		a, b string
		gap  float64 // in em
		at   style
		want string
	}{
		{"Xerox", "®", -0.002, style{size: 6}, "Xerox®"},
		{"®", ",", 0, style{size: em}, "®,"},
		{"(186", ")", -0.007, style{size: em}, "(186)"},
		{"0.6", "%", -0.007, style{size: em}, "0.6%"},
		{"(", "see", 0, style{size: em}, "(see"},
		{"I", "ndicate", 0, style{size: em, face: "other"}, "Indicate"},
		{"T", "he", 0, style{size: 0.8 * em}, "The"},
		{"S", "AFRA", 0.001, style{size: 0.8 * em}, "SAFRA"},
		{"volatility", "(2)", 0, style{size: 6}, "volatility (2)"},
		{"business.", "9", 0.004, style{size: 4.3}, "business. 9"},
		{"L", "ji", 0, style{size: 6.6}, "L ji"},
		{"L", "ji", 0, formula, "L ji"},
		{"A", "port", 0.1, style{size: em}, "A port"},
		{"B", "the", -0.029, style{size: em}, "B the"}, // its font's widths are wrong
		{"A", "port", 0, style{size: em}, "A port"},    // these too
		{"due", "to", 0.002, style{size: em}, "due to"},
		{"mot", ";", 0.2, style{size: em}, "mot ;"},
	} {
		right := 6 * float64(len(tt.a))
		left := right + tt.gap*em
		got := joinWords([]word{
			{box: box{0, 0, right, 12}, text: tt.a, style: style{size: em}},
			{box: box{left, 0, left + 6*float64(len(tt.b)), 12}, text: tt.b, style: tt.at},
		})
		if got != tt.want {
			t.Errorf("%q and %q, %.3f em apart, are %q, want %q", tt.a, tt.b, tt.gap, got, tt.want)
		}
	}
}
