package pdf

import "math"

// stats describes the document's running text as far as it was read.
type stats struct {
	sizes                     map[float64]int // characters by font size in half points
	total, bold, italic, mono int
}

func newStats() *stats { return &stats{sizes: map[float64]int{}} }

func (s *stats) add(p *page) {
	for _, w := range p.words {
		n := len(w.text)
		size := math.Round(w.em()*2) / 2
		if len(s.sizes) < 1000 || s.sizes[size] > 0 {
			s.sizes[size] += n
		}
		s.total += n
		s.bold += n * one(w.bold)
		s.italic += n * one(w.italic)
		s.mono += n * one(w.mono)
	}
}

// body returns the size of most of the text in points, or 10 before anything was read.
func (s *stats) body() float64 {
	size, most := 10.0, 0
	for v, n := range s.sizes {
		if n > most || n == most && v < size {
			size, most = v, n
		}
	}
	return size
}

func (s *stats) mostlyBold() bool   { return s.bold*2 > s.total }
func (s *stats) mostlyItalic() bool { return s.italic*2 > s.total }
func (s *stats) mostlyMono() bool   { return s.mono*2 > s.total }
