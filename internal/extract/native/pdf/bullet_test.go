package pdf

import "testing"

// TestCostOfBullets: a dot with thousands of words to its right, one on the other, takes no quadratic time.
func TestCostOfBullets(t *testing.T) {
	t.Parallel()
	const many = 4000
	segs := make([]segment, many)
	for i := range segs {
		segs[i] = newSegment(lineOf("20:word").words())
	}
	p := &page{dots: []box{{10, 4, 14, 8}}}
	p.drawnBullets(segs)
	bullets := 0
	for _, s := range segs {
		bullets += one(s.words[0].text == "•")
	}
	if bullets == 0 || bullets*many > maxEffort {
		t.Errorf("%d bullets", bullets)
	}
}
