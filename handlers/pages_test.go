package handlers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
)

// pager is a Progress that writes down what it is told of pages.
type pager struct{ told []string }

func (*pager) Stage(string) error         { return nil }
func (*pager) Checkpoint(any)             {}
func (*pager) Delta(string, bool)         {}
func (*pager) Save(context.Context) error { return nil }

func (p *pager) Pages(completed, total int) {
	p.told = append(p.told, fmt.Sprintf("%d of %d", completed, total))
}

func (p *pager) Report(fraction float64, message string) {
	p.told = append(p.told, fmt.Sprintf("%.2f %s", fraction, message))
}

// A page is done when the next one comes; how far that is, is known with the number of pages.
func TestPageProgress(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total int // told first; 0: never
		want  []string
	}{
		"known":   {4, []string{"0 of 4", "0 of 4", "0.00 page 1", "2 of 4", "0.50 page 3", "4 of 4"}},
		"unknown": {0, []string{"0 of 0", "0.05 page 1", "2 of 0", "0.13 page 3", "4 of 4"}},
	} {
		told := &pager{}
		p := handlers.NewPageProgress(told)
		if c.total > 0 {
			p.Total(c.total)
		}
		for _, page := range []int{0, 1, 1, 3, 2} {
			p.Page(page)
		}
		p.End(4)
		if !slices.Equal(told.told, c.want) {
			t.Errorf("%s: told %q, want %q", name, told.told, c.want)
		}
	}
	none := &pager{}
	handlers.NewPageProgress(none).End(0)
	if len(none.told) > 0 {
		t.Errorf("of a format without pages: %q", none.told)
	}
}
