package pageimage

import (
	"cmp"
	"image"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

const (
	// contrast is the difference, in 256 levels, between a pixel and its background.
	contrast = 32
	// blankShare: a page number covers about one pixel of ten thousand, a word three.
	blankShare = 1.0 / 20_000
)

// marks reports the levels that differ from the paper, the color of most of the page, and counts their pixels.
func marks(img *image.Gray) (is [256]bool, count int) {
	var levels [256]int
	for _, v := range img.Pix {
		levels[v]++
	}
	paper := 0
	for v, n := range levels {
		if n > levels[paper] {
			paper = v
		}
	}
	for v, n := range levels {
		if v < paper-contrast || v > paper+contrast {
			is[v] = true
			count += n
		}
	}
	return is, count
}

// Blank reports whether the page is empty: nearly all of it has one color.
func Blank(img *image.Gray) bool {
	_, n := marks(img)
	return float64(n) < blankShare*float64(len(img.Pix))
}

// LookDPI is enough to see whether there is anything on a page.
const LookDPI = 75

// Spots are the marks on a page that may be text besides the words that are known.
type Spots struct {
	Count  int
	Around ocr.Box // all of them, in fractions of the page
	Height float64 // of most, in pixels at LookDPI
}

// FindSpots finds the spots on a page of LookDPI that have the size of letters or words, without those at positions (in
// fractions of the page) for which known is true. Letters and words are beside others of their height; a spot that
// is alone, such as the mark of a scale, is none.
func FindSpots(img *image.Gray, known func(x, y float64) bool) Spots {
	is, _ := marks(img)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	seen := make([]bool, w*h)
	var all []spot
	const most = 5000
	for start := 0; start < len(seen) && len(all) < most; start++ {
		if seen[start] || !is[img.Pix[start/w*img.Stride+start%w]] {
			continue
		}
		s := fill(img, &is, seen, start)
		if s.isText() && !known(float64(s.left+s.right+1)/2/float64(w), float64(s.top+s.bottom+1)/2/float64(h)) {
			all = append(all, s)
		}
	}
	var found Spots
	var heights []int
	around := spot{w, h, 0, 0}
	for _, s := range inRows(all) {
		found.Count++
		heights = append(heights, s.bottom-s.top+1)
		around = spot{min(s.left, around.left), min(s.top, around.top), max(s.right, around.right), max(s.bottom, around.bottom)}
	}
	if found.Count == 0 {
		return found
	}
	slices.Sort(heights)
	found.Height = float64(heights[len(heights)/2])
	found.Around = ocr.Box{
		Left: float64(around.left) / float64(w), Top: float64(around.top) / float64(h),
		Right: float64(around.right+1) / float64(w), Bottom: float64(around.bottom+1) / float64(h),
	}
	return found
}

// inRows returns the spots that have a neighbor to the left or right, of about their height.
func inRows(all []spot) []spot {
	slices.SortFunc(all, func(a, b spot) int { return cmp.Compare(a.top, b.top) })
	beside := make([]bool, len(all))
	for i, a := range all {
		for j := i + 1; j < len(all) && all[j].top <= a.bottom; j++ {
			if a.isBeside(all[j]) {
				beside[i], beside[j] = true, true
			}
		}
	}
	var out []spot
	for i, s := range all {
		if beside[i] {
			out = append(out, s)
		}
	}
	return out
}

// isBeside reports whether two spots may be neighbors in a line of text.
func (s spot) isBeside(o spot) bool {
	a, b := s.bottom-s.top+1, o.bottom-o.top+1
	shared := min(s.bottom, o.bottom) - max(s.top, o.top) + 1
	gap := max(s.left, o.left) - min(s.right, o.right)
	return 2*shared >= min(a, b) && max(a, b) <= 3*min(a, b) && gap <= 2*max(a, b)
}

// spot is the bounds of connected marks.
type spot struct{ left, top, right, bottom int }

// isText reports whether a spot has the size of some letters at LookDPI: print of 5 to 20 points.
func (s spot) isText() bool {
	w, h := s.right-s.left+1, s.bottom-s.top+1
	return h >= 3 && h <= 24 && w >= 2 && w <= 150
}

// fill marks the pixels of the spot at start as seen and returns its bounds.
func fill(img *image.Gray, is *[256]bool, seen []bool, start int) spot {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	s := spot{w, h, 0, 0}
	seen[start] = true
	for open := []int{start}; len(open) > 0; {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		x, y := at%w, at/w
		s = spot{min(s.left, x), min(s.top, y), max(s.right, x), max(s.bottom, y)}
		for _, n := range [...][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
			if n[0] < 0 || n[0] >= w || n[1] < 0 || n[1] >= h {
				continue
			}
			if i := n[1]*w + n[0]; !seen[i] && is[img.Pix[n[1]*img.Stride+n[0]]] {
				seen[i] = true
				open = append(open, i)
			}
		}
	}
	return s
}
