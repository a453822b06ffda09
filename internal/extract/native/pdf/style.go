package pdf

import (
	"slices"
	"strings"
)

// applyStyles gives each word of p the style of the run it lies in, and its place in the content
// stream. Words without a run keep what they have.
func applyStyles(p *page, r *runPage) {
	if r == nil || len(r.runs) == 0 || len(p.words) == 0 {
		return
	}
	dx, dy := shift(p, r)
	index := indexRuns(r.runs, dx, dy)
	for i := range p.words {
		w := &p.words[i]
		at, ok := index.find(w.centerX(), w.centerY())
		if !ok {
			continue
		}
		w.style = r.runs[at].style
		w.order = at*maxWords + i // runs in stream order, words of one run in theirs
	}
	fillOrder(p)
}

// jumps reports whether the page's content stream doesn't come from a when it writes b, beside it: they
// belong to different columns or cells, however near they stand.
func jumps(a, b word) bool {
	from, to := a.order/maxWords, b.order/maxWords
	return to != from && to != from+1 && b.left-a.right > 0.4*b.em() && !a.math && !b.math
}

// fillOrder puts words whose run is unknown behind the word before them.
func fillOrder(p *page) {
	last := 0
	for i := range p.words {
		if p.words[i].order < maxWords && i > 0 && last >= maxWords {
			p.words[i].order = last
		}
		last = p.words[i].order
	}
}

// shift is how far the runs' origin lies from the words': the two programs may mean different boxes
// of the page (crop and media). It is measured where a line's first word begins one run only.
func shift(p *page, r *runPage) (dx, dy float64) {
	if abs(p.width-r.width) < 1.5 && abs(p.height-r.height) < 1.5 {
		return 0, 0
	}
	starts := map[string]int{}
	for i, run := range r.runs {
		first, _, _ := strings.Cut(strings.TrimSpace(run.start), " ")
		if _, twice := starts[first]; twice {
			starts[first] = -1
			continue
		}
		starts[first] = i
	}
	var xs, ys []float64
	for _, w := range p.words {
		if i, ok := starts[w.text]; ok && i >= 0 && len(w.text) > 3 {
			xs = append(xs, w.left-r.runs[i].left)
			ys = append(ys, w.top-r.runs[i].top)
		}
	}
	return median(xs), median(ys)
}

// runIndex finds runs by place: the runs of each stripe of the page.
type runIndex struct {
	runs    []box
	stripes map[int][]int
}

const stripe = 16 // points

func indexRuns(runs []run, dx, dy float64) runIndex {
	x := runIndex{make([]box, len(runs)), map[int][]int{}}
	for i, r := range runs {
		b := box{r.left + dx, r.top + dy, r.right + dx, r.bottom + dy}
		x.runs[i] = b
		from, to := int(b.top)/stripe, int(b.bottom)/stripe
		for s := from; s <= min(to, from+100); s++ {
			if len(x.stripes[s]) < 2000 {
				x.stripes[s] = append(x.stripes[s], i)
			}
		}
	}
	return x
}

// find is the run at a point; of several the lowest one, whose text is nearest to the point's middle.
func (x runIndex) find(px, py float64) (int, bool) {
	best, bestOff := -1, 0.0
	for _, i := range x.stripes[int(py)/stripe] {
		b := x.runs[i]
		if px < b.left-0.5 || px > b.right+0.5 || py < b.top || py > b.bottom {
			continue
		}
		if off := abs(b.centerY() - py); best < 0 || off < bestOff {
			best, bestOff = i, off
		}
	}
	return best, best >= 0
}

// median of values; zero of none. It reorders them.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func abs(v float64) float64 { return max(v, -v) }
