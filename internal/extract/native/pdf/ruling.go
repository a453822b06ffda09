package pdf

import (
	"cmp"
	"slices"
)

// ruling is a line across or down a page, made of all that is drawn along it.
type ruling struct {
	at       float64 // points from the top, or from the left
	from, to float64 // along the line
}

// The tolerances of lines, in points.
const (
	sameRuling = 2.2 // lines that are as close are one: the borders of two cells, a double line
	ruleGap    = 3.0 // within a line
	ruleTouch  = 3.0 // between the end of a line and one that it meets
)

// rulings returns the lines across and down a page.
func rulings(rules []rule) (across, down []ruling) {
	for _, r := range rules {
		if r.across() {
			across = append(across, ruling{r.centerY(), r.left, r.right})
		} else {
			down = append(down, ruling{r.centerX(), r.top, r.bottom})
		}
	}
	return joinRulings(across), joinRulings(down)
}

// joinRulings joins lines that are one. What is shorter than any cell is dropped.
func joinRulings(lines []ruling) []ruling {
	const shortest = 4
	slices.SortFunc(lines, func(a, b ruling) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	var out []ruling
	for start := 0; start < len(lines); {
		end, sum := start, 0.0
		for ; end < len(lines) && lines[end].at-lines[start].at <= sameRuling; end++ {
			sum += lines[end].at
		}
		at := sum / float64(end-start)
		same := lines[start:end]
		slices.SortFunc(same, func(a, b ruling) int { return cmp.Compare(a.from, b.from) })
		first := len(out)
		for _, l := range same {
			if n := len(out); n > first && l.from <= out[n-1].to+ruleGap {
				out[n-1].to = max(out[n-1].to, l.to)
				continue
			}
			out = append(out, ruling{at, l.from, l.to})
		}
		start = end
	}
	return slices.DeleteFunc(out, func(l ruling) bool { return l.to-l.from < shortest })
}

// meets reports whether a line across and a line down touch.
func (r ruling) meets(down ruling) bool {
	return down.at >= r.from-ruleTouch && down.at <= r.to+ruleTouch &&
		r.at >= down.from-ruleTouch && r.at <= down.to+ruleTouch
}

// frame is lines that touch each other, directly or by others.
type frame struct {
	box

	across, down []ruling
}

// maxMeetings limits how many pairs of lines of a page are compared.
const maxMeetings = 2_000_000

// frames groups lines that touch. A page with too many lines has none.
func frames(across, down []ruling) []frame {
	parent := make([]int, len(across)+len(down))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	left := maxMeetings
	for j, d := range down {
		first, _ := slices.BinarySearchFunc(across, d.from-ruleTouch, func(a ruling, y float64) int {
			return cmp.Compare(a.at, y)
		})
		for i := first; i < len(across) && across[i].at <= d.to+ruleTouch; i++ {
			if left--; left < 0 {
				return nil
			}
			if across[i].meets(d) {
				parent[root(i)] = root(len(across) + j)
			}
		}
	}
	index := map[int]int{}
	var out []frame
	of := func(i int) *frame {
		r := root(i)
		at, ok := index[r]
		if !ok {
			at = len(out)
			index[r] = at
			out = append(out, frame{})
		}
		return &out[at]
	}
	for i, a := range across {
		f := of(i)
		f.across = append(f.across, a)
		f.box = f.union(box{a.from, a.at, a.to, a.at})
	}
	for j, d := range down {
		f := of(len(across) + j)
		f.down = append(f.down, d)
		f.box = f.union(box{d.at, d.from, d.at, d.to})
	}
	return out
}
