package pdf

import "github.com/seed-7227ef26/async-worker/internal/deck"

// stacks are the sums of the series drawn so far, of each plot that stacks them.
type stacks struct {
	chart *deck.Chart
	count int
	all   map[deck.Plot]*sums
}

func newStacks(c *deck.Chart, count int) stacks { return stacks{c, count, map[deck.Plot]*sums{}} }

// of are the sums below a series; nil: it stands for itself.
func (t stacks) of(s *deck.Series) *sums {
	p := t.chart.PlotOf(s)
	if p.Grouping == deck.Clustered {
		return nil
	}
	if t.all[p] == nil {
		// Lines and areas are on top of what is below them, whatever its sign; bars have a stack for each sign.
		t.all[p] = &sums{above: make([]float64, t.count), below: make([]float64, t.count), signed: p.Kind == deck.BarChart || p.Kind == deck.ColumnChart}
	}
	return t.all[p]
}

// sums are those of a stack, by category.
type sums struct {
	above, below []float64
	signed       bool
}

// add puts a value on its stack, and returns where it begins and ends.
func (s *sums) add(i int, v float64) (from, to float64) {
	if s == nil {
		return 0, v
	}
	stack := s.above
	if s.signed && v < 0 {
		stack = s.below
	}
	from = stack[i]
	stack[i] += v
	return from, stack[i]
}
