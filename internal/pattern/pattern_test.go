package pattern_test

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// A pattern is compiled by its first use, not before: a wrong one panics then.
func TestCompiledWhenUsed(t *testing.T) {
	t.Parallel()
	wrong := pattern.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression does not panic when used")
		}
	}()
	wrong.MatchString("")
}

func TestPattern(t *testing.T) {
	t.Parallel()
	p := pattern.New(`(\w)(\d)`)
	const text = "a1 b2"
	for range 2 {
		if got := p.ReplaceAllString(text, "$2$1"); got != "1a 2b" {
			t.Errorf("ReplaceAllString: %q", got)
		}
		if got := p.FindAllString(text, -1); !slices.Equal(got, []string{"a1", "b2"}) {
			t.Errorf("FindAllString: %q", got)
		}
		if got := p.FindStringSubmatchIndex(text); !slices.Equal(got, []int{0, 2, 0, 1, 1, 2}) {
			t.Errorf("FindStringSubmatchIndex: %v", got)
		}
	}
}
