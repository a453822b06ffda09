package pdf

import "testing"

// TestCostOfGaps: a look for a gap copies no words.
func TestCostOfGaps(t *testing.T) { // not parallel: allocations are counted
	words := lineOf("0:one", "20:two", "90:three", "120:four").words()
	for x, want := range map[float64]bool{0: false, 17: false, 60: true, 115: false, 200: false} {
		if got := apart(words, x); got != want {
			t.Errorf("at %g: got %v", x, got)
		}
	}
	if n := testing.AllocsPerRun(10, func() { apart(words, 60) }); n > 0 {
		t.Errorf("got %g allocations", n)
	}
}

// TestLooksForGaps: frames within frames, each with many columns, are looked at for gaps only as often as a page allows.
func TestLooksForGaps(t *testing.T) {
	t.Parallel()
	words := lineOf("0:one", "90:two").words()
	cell := ruledCell{to: 1, words: words}
	g := &lattice{xs: []float64{0, 60, 120}, ys: []float64{0, 20, 40}, at: make([]int, 4), looks: &effort{3 * len(words)}}
	for range 3 {
		if !g.hasGap(cell) {
			t.Fatal("the gap was not found")
		}
	}
	g.cells = []ruledCell{cell}
	if g.split(); g.hasGap(cell) || len(g.cells) != 1 {
		t.Errorf("more looks than allowed: %d cells", len(g.cells))
	}
}
