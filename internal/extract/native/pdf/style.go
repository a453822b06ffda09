package pdf

import (
	"cmp"
	"slices"
	"strings"
)

// applyStyles gives each word of p the style of its run and its position in the content stream. Words without a
// run are unchanged.
func applyStyles(p *page, r *runPage) {
	if r == nil || len(r.runs) == 0 || len(p.words) == 0 {
		return
	}
	dx, dy := shift(p, r)
	index := indexRuns(r.runs, dx, dy)
	p.words = splitAtWeights(p.words, index, r.runs)
	mixed := map[int][]int{} // words by run, of the runs that change their style
	for i := range p.words {
		w := &p.words[i]
		at, ok := index.find(w.centerX(), w.centerY())
		if !ok {
			continue
		}
		w.style = r.runs[at].style
		w.order = r.runs[at].line*maxWords + i // lines in stream order, words of one line in their order
		if r.runs[at].parts != nil {
			mixed[at] = append(mixed[at], i)
		}
	}
	for at, words := range mixed {
		p.applyParts(words, r.runs[at].parts)
	}
	fillOrder(p)
}

// applyParts gives the words of a run, from left to right, the styles of its parts. A word is in the part of its
// middle character.
func (p *page) applyParts(words []int, parts []runPart) {
	slices.SortStableFunc(words, func(a, b int) int { return cmp.Compare(p.words[a].left, p.words[b].left) })
	before, at, end := 0, 0, parts[0].characters
	for _, i := range words {
		w := &p.words[i]
		n := characters(w.text)
		for at+1 < len(parts) && before+n/2 >= end {
			at++
			end += parts[at].characters
		}
		w.bold, w.italic = parts[at].bold, parts[at].italic
		before += n
	}
}

// jumps reports whether the page's content stream writes b without coming from a, which is beside it: then they
// belong to different columns or cells, however close they are.
func jumps(a, b word) bool {
	from, to := a.order/maxWords, b.order/maxWords
	return to != from && to != from+1 && b.left-a.right > 0.4*b.em() && !a.math && !b.math
}

// fillOrder places words without a run after the previous word.
func fillOrder(p *page) {
	last := 0
	for i := range p.words {
		if p.words[i].order < maxWords && i > 0 && last >= maxWords {
			p.words[i].order = last
		}
		last = p.words[i].order
	}
}

// shift returns the offset of the runs' origin from the words': the two programs may use different boxes of the
// page (crop and media). It is measured where a line's first word begins exactly one run.
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

// runIndex finds runs by position: the runs of each horizontal stripe of the page.
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

// find returns the run at a point. Of several it returns the one whose middle is nearest, and of those about as near the
// first: text that is drawn twice, for a shadow, is that which is drawn first.
func (x runIndex) find(px, py float64) (int, bool) {
	const asNear = 0.1
	best, bestOff := -1, 0.0
	for _, i := range x.stripes[int(py)/stripe] {
		b := x.runs[i]
		if px < b.left-0.5 || px > b.right+0.5 || py < b.top || py > b.bottom {
			continue
		}
		if off := abs(b.centerY() - py); best < 0 || off < bestOff-asNear {
			best, bestOff = i, off
		}
	}
	return best, best >= 0
}

// median returns the median of values, or zero without any. It reorders them.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func abs(v float64) float64 { return max(v, -v) }
