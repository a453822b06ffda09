package pattern_test

import (
	"slices"
	"strings"
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

// An expression of 3 KB has the size of its program, which is not made; the estimate of a small one is near it.
func TestSize(t *testing.T) {
	t.Parallel()
	for expression, between := range map[string][2]int{
		``:                  {1, 2},
		`(?i)wind speed`:    {10, 30},
		`^\d{4}-\d\d-\d\d$`: {8, 40},
		`(a|bc|[^d])+?x*`:   {8, 30},
		`\pL`:               {50, 1000},
		`a{0}`:              {1, 5},
		`.{3,}`:             {3, 20},
		`((a{10}){10}){10}`: {1000, 8000},
		`\p{L}{2,30}`:       {60, 400},
		`.{0,700}`:          {1400, 2000},
		`(?:` + strings.Repeat(`.?`, 240) + `){1000}`:  {480_000, 2_000_000},
		`(?:` + strings.Repeat(`a`, 3_300) + `){1000}`: {3_300_000, 10_000_000},
	} {
		if n, err := pattern.Size(expression); err != nil || n < between[0] || n > between[1] {
			t.Errorf("%.40s: %d instructions, %v; want %v", expression, n, err, between)
		}
	}
	if _, err := pattern.Size(`(`); err == nil {
		t.Error("a wrong expression has a size")
	}
}
