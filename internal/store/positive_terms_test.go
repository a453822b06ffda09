package store_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func TestPositiveTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"Super Bowl" -Panthers`:     `"Super Bowl"`,
		`bowl -"half time" -x won`:   `bowl   won`,
		`bowl -“half time”`:          `bowl`,
		`from -40 to -.5 or -$3`:     `from -40 to -.5 or -$3`,
		`a check-in -desk`:           `a check-in`,
		`what does --force do -here`: `what does --force do`,
		`-all -of -it`:               `-all -of -it`,
		`“quoted”`:                   `“quoted”`,
		`bowl -"unclosed`:            `bowl`,
		``:                           ``,
		`港湾　－防守`:                     `港湾`,
		`港湾　-防守　東京`:                  `港湾 　東京`,
	} {
		if got := store.PositiveTerms(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := store.PositiveTerms(strings.Repeat("-a ", 50000) + "b"); got != "b" {
		t.Errorf("%.40q", got)
	}
}

func TestPlainTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"notice period" -draft OR -"old one" x`: "notice period draft or old one x",
		"“a” －b --c -40 check-in - Or":           "a b c -40 check-in Or",
		"a -OR －OR b":                            "a or or b",
	} {
		if got := store.PlainTerms(text); strings.TrimSpace(strings.ReplaceAll(got, "  ", " ")) != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
