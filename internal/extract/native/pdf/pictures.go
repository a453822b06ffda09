package pdf

import "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"

// coveredBy returns the fraction of a page that its images cover, 0-1. Images over each other count once, and the strips
// of a scan together.
func coveredBy(images []content.Box, width, height float64) float64 {
	const side = 32 // points across and down where the page is probed
	var covered [side][side]bool
	n := 0
	for _, b := range images {
		for y := range side {
			if at := (float64(y) + 0.5) / side * height; at < b.Top || at > b.Bottom {
				continue
			}
			for x := range side {
				at := (float64(x) + 0.5) / side * width
				if !covered[y][x] && at >= b.Left && at <= b.Right {
					covered[y][x] = true
					n++
				}
			}
		}
	}
	return float64(n) / (side * side)
}
