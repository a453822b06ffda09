package symbol_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

func TestRaise(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, text, want string }{
		{"10", "6", "⁶"},
		{"10", "-6", "⁻⁶"},
		{"10", "−12", "⁻¹²"},
		{"10⁻", "6", "⁶"},
		{"m", "2", "²"},
		{"10", "6  ", "⁶  "},
		{"", "2", "2"},
		{"see ", "2", "2"},
		{"m)", "2", "2"},
		{"1", "st", "st"},
		{"word", "[1]", "[1]"},
		{"word", "1, 2", "1, 2"},
	} {
		if got := symbol.Raise(tt.before, tt.text); got != tt.want {
			t.Errorf("Raise(%q, %q) = %q, want %q", tt.before, tt.text, got, tt.want)
		}
	}
}
