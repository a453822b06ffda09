package pdf

import "testing"

// placed returns a line of words 10 points high at "left:text", as lineOf does, below others.
func placed(top float64, bold bool, places ...string) line {
	words := lineOf(places...).words()
	for i := range words {
		words[i].top, words[i].bottom, words[i].bold = top, top+12, bold
	}
	l := line{segments: []segment{newSegment(words)}}
	l.box = l.segments[0].box
	l.collect()
	return l
}

// TestCostOfStrips: a page of headings, each of which ends what could be a table, costs as much for each line as a shorter
// one. Allocations tell: each look at a line takes some.
func TestCostOfStrips(t *testing.T) { // not parallel: allocations are counted
	perLine := func(groups int) float64 {
		var lines []line
		for i := range groups {
			top := 39 * float64(i)
			lines = append(lines, placed(top, false, "0:word", "60:word"), placed(top+13, true, "0:1.1", "60:Title"),
				placed(top+26, false, "60:word"))
		}
		return testing.AllocsPerRun(1, func() { strips(nil, lines) }) / float64(len(lines))
	}
	if few, many := perLine(40), perLine(320); many > 2*few {
		t.Errorf("%.0f allocations for each line of a short page, %.0f of a long one", few, many)
	}
}
