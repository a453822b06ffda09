package pdf

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// region is a part of a page that is read from top to bottom: a column, or text across columns.
type region struct {
	box
	lines []line
}

// maxDepth limits how often a page is cut.
const maxDepth = 8

// readingOrder cuts a page into regions along the white gutters between columns and returns them in reading
// order. It is a recursive X-Y cut (Nagy, Seth, Viswanathan: "A prototype document image analysis system for
// technical journals", 1992). Lines that span a gutter, such as titles, separate the columns above from those
// below. Text side by side counts as columns only if it reads like text and not like the rows of a table. A
// page that exceeds the effort is cut no further.
func readingOrder(ctx context.Context, segs []segment, e *effort) ([]region, error) {
	slices.SortStableFunc(segs, func(a, b segment) int { return cmp.Compare(a.centerY(), b.centerY()) })
	for i := range segs {
		segs[i].alone = !slices.ContainsFunc(near(segs, i), func(j int) bool { return segs[i].sameLine(segs[j].box) })
	}
	return cut(ctx, segs, e, 0)
}

func cut(ctx context.Context, segs []segment, e *effort, depth int) ([]region, error) {
	if len(segs) == 0 {
		return nil, nil
	}
	if depth < maxDepth {
		parts, err := columns(ctx, segs, e)
		if err != nil {
			return nil, err
		}
		if len(parts) > 1 {
			var out []region
			for _, part := range parts {
				regions, err := cut(ctx, part, e, depth+1)
				if err != nil {
					return nil, err
				}
				out = append(out, regions...)
			}
			return out, nil
		}
	}
	r := region{lines: rows(segs)}
	for _, l := range r.lines {
		r.box = r.union(l.box)
	}
	return []region{r}, nil
}

// columns cuts segs, sorted by their middles, along the best gutter into bands of columns and the text between
// them, in reading order. It returns nil if there is no gutter.
func columns(ctx context.Context, segs []segment, e *effort) ([][]segment, error) {
	c := cutter{segs: segs, runs: shortRows(segs), effort: e}
	best, most := 0.0, 0
	for _, x := range gutters(segs) {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !e.spend(len(segs)) {
			break
		}
		gain := 0
		c.bandsAt(x, func(b band) {
			if b.columns {
				gain += c.clearOf(x, b.all)
			}
		})
		if gain > most {
			best, most = x, gain
		}
	}
	if most == 0 {
		return nil, nil
	}
	var parts [][]segment
	var between []segment
	flush := func() {
		if len(between) > 0 {
			parts = append(parts, between)
		}
		between = nil
	}
	c.bandsAt(best, func(b band) {
		if !b.columns {
			between = append(between, c.at(b.all)...)
			return
		}
		flush()
		parts = append(parts, c.at(b.left), c.at(b.right))
	})
	flush()
	return parts, nil
}

// clearOf counts the segments that don't cross x. Lines of two columns may lie on both sides of an x that many of them
// cross.
func (c *cutter) clearOf(x float64, indexes []int32) (n int) {
	for _, k := range indexes {
		n += one(!c.segs[k].crosses(x))
	}
	return n
}

// crosses reports whether a segment is on both sides of x.
func (s *segment) crosses(x float64) bool { return s.left < x-1 && s.right > x+1 }

// gutters returns the positions that few lines cover, compared with their surroundings.
func gutters(segs []segment) []float64 {
	const maxBins, most = 2000, 40
	if len(segs) == 0 {
		return nil
	}
	// Not union: it would skip a zero box, as from coordinates that are not numbers.
	left, right := math.Inf(1), math.Inf(-1)
	for _, s := range segs {
		left, right = min(left, s.left), max(right, s.right)
	}
	bin := max(1, (right-left)/maxBins)
	cover := make([]float64, int((right-left)/bin)+2)
	for _, s := range segs {
		// A difference array: the prefix sum up to a bin is its coverage.
		cover[int((s.left-left)/bin)] += s.height()
		cover[min(int((s.right-left)/bin)+1, len(cover)-1)] -= s.height()
	}
	type valley struct{ x, depth float64 }
	var valleys []valley
	sum, start, falling := 0.0, 0, false
	for i, d := range cover {
		if abs(d) < 1e-6 {
			continue
		}
		if d > 0 && falling && start > 0 {
			valleys = append(valleys, valley{left + bin*float64(start+i)/2, sum})
		}
		sum += d
		falling = d < 0
		start = i
	}
	slices.SortStableFunc(valleys, func(a, b valley) int { return cmp.Compare(a.depth, b.depth) })
	out := make([]float64, 0, most)
	for _, v := range valleys[:min(len(valleys), most)] {
		out = append(out, v.x)
	}
	return out
}

// band is a horizontal stripe of a page: two columns, or anything else. It holds the indexes of segments.
type band struct {
	columns     bool
	left, right []int32
	all         []int32
}

// cutter tries gutters of the same segments. Its slices are used again for each.
type cutter struct {
	segs   []segment
	runs   rowRuns
	effort *effort

	open          band
	across        []bool
	seen          []bool
	lefts, rights []float64
	sizes         []float64
	marks         []mark
}

// at returns the segments of indexes.
func (c *cutter) at(indexes []int32) []segment {
	out := make([]segment, len(indexes))
	for i, k := range indexes {
		out[i] = c.segs[k]
	}
	return out
}

// bandsAt cuts the page at x into bands and yields them; they are valid until yield returns. A run of rows that
// crosses x as a table is a band of its own.
func (c *cutter) bandsAt(x float64, yield func(band)) {
	c.across = c.runs.across(c.across[:0], x, c.effort)
	c.seen = append(c.seen[:0], make([]bool, len(c.across))...)
	closeBand := func() {
		if len(c.open.all) > 0 {
			c.open.columns = c.areColumns(c.open.left, c.open.right)
			yield(c.open)
		}
		c.open = band{left: c.open.left[:0], right: c.open.right[:0], all: c.open.all[:0]}
	}
	var single [1]int32
	for i := range c.segs {
		s := &c.segs[i]
		if run := c.runs.of[i]; run >= 0 && c.across[run] {
			if !c.seen[run] {
				c.seen[run] = true
				closeBand()
				yield(band{all: c.runs.segs[run]})
			}
			continue
		}
		if s.crosses(x) && s.alone {
			closeBand()
			single[0] = int32(i)
			yield(band{all: single[:]})
			continue
		}
		c.open.all = append(c.open.all, int32(i))
		if s.centerX() < x {
			c.open.left = append(c.open.left, int32(i))
		} else {
			c.open.right = append(c.open.right, int32(i))
		}
	}
	closeBand()
}
