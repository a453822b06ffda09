package symbol_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/symbol"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ font, text, want string }{
		{"Symbol", "a = 2b", "α = 2β"},
		{"Symbol", "\uF061 \uF0A3 \uF032", "α ≤ 2"},
		{"Wingdings", "\uF0E0", "→"},
		{"Wingdings", "\uF0E8", "→"},
		{"Wingdings 3", "\uF0E8", ""}, // a triangle
		{"Wingdings", "\uF020ü", " ✓"},
		{"Wingdings", "…", "…"}, // not in the font
	} {
		if got := symbol.Run(tt.font, tt.text); got != tt.want {
			t.Errorf("%s, %q: got %q, want %q", tt.font, tt.text, got, tt.want)
		}
	}
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	if got, want := symbol.Private("Wingdings", "à la carte \uF0E0 \uF8FF"), "à la carte → \uF8FF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
