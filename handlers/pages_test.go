package handlers_test

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
)

// A page is done when the next one arrives. The fraction is exact once the number of pages is known.
func TestPageProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total int // reported first; 0: never
		want  []string
	}{
		"known":   {4, []string{"0 of 4", "0 of 4", "0.00 page 1", "2 of 4", "0.50 page 3", "4 of 4"}},
		"unknown": {0, []string{"0 of 0", "0.05 page 1", "2 of 0", "0.13 page 3", "4 of 4"}},
	} {
		reported := &handlertest.Progress{}
		p := handlers.NewPageProgress(reported)
		if c.total > 0 {
			p.Total(c.total)
		}
		for _, page := range []int{0, 1, 1, 3, 2} {
			p.Page(page)
		}
		p.End(4)
		if !slices.Equal(reported.Trace, c.want) {
			t.Errorf("%s: reported %q, want %q", name, reported.Trace, c.want)
		}
	}
	none := &handlertest.Progress{}
	handlers.NewPageProgress(none).End(0)
	if len(none.Trace) > 0 {
		t.Errorf("reported %q of a format without pages", none.Trace)
	}
}
