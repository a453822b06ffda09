package pdf

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// window is how many pages before and after a page are compared with it. Pages are laid out when so
// many more were read: that is all of the document that is ever in memory.
const window = 6

// sheet is a page on its way through the window.
type sheet struct {
	*page
	segments []segment
	top      []edgeRow // from the edge inwards
	bottom   []edgeRow
}

// edgeRow is a line near the top or bottom of a page.
type edgeRow struct {
	line
	sign string  // its text without what changes from page to page
	gap  float64 // to the next line inwards, in points
}

const (
	edgeRows = 4    // lines that are looked at, from each edge
	edgePart = 0.3  // of the page's height: small pages are printed on large sheets
	edgeOnly = 0.13 // of it: where what stands on one page only may be a header
)

// newSheet prepares a page for comparison.
func newSheet(p *page) *sheet {
	s := &sheet{page: p, segments: segmentsOf(withoutStamps(p))}
	lines := rows(slices.Clone(s.segments))
	for i := range lines[:min(len(lines), edgeRows)] {
		if lines[i].bottom > p.height*edgePart {
			break
		}
		gap := p.height
		if i+1 < len(lines) {
			gap = lines[i+1].top - lines[i].bottom
		}
		s.top = append(s.top, edgeRow{lines[i], signOf(lines[i]), gap})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.bottom, a.bottom) })
	for i := range lines[:min(len(lines), edgeRows)] {
		if lines[i].top < p.height*(1-edgePart) {
			break
		}
		gap := p.height
		if i+1 < len(lines) {
			gap = lines[i].top - lines[i+1].bottom
		}
		s.bottom = append(s.bottom, edgeRow{lines[i], signOf(lines[i]), gap})
	}
	return s
}

// withoutStamps leaves out text that runs up or down along the left or right edge, such as a stamp of
// the archive, once the page itself stands upright.
func withoutStamps(p *page) []word {
	return slices.DeleteFunc(slices.Clone(p.words), func(w word) bool {
		tall := w.height() > 1.8*w.width() && len([]rune(w.text)) > 2 && w.height() > 1.8*w.size
		return tall && (w.right < 0.08*p.width || w.left > 0.92*p.width)
	})
}

var digits = regexp.MustCompile(`\d+`)

func signOf(l line) string {
	return digits.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(l.text()), " ")), "#")
}

// pageNumber is a line that only says which page this is.
var pageNumber = regexp.MustCompile(`(?i)^[-–—|\s]*((page|seite|página|pagina|p\.|s\.)\s*)?([ivxlc]{1,6}|(\d{1,3}|[A-Z])[-–.]\d{1,3}|\d{1,4})(\s*(/|of|von|de|di|sur|van)\s*\d{1,4})?[-–—|\s]*$`)

// body takes the running headers, footers and page numbers away from s. others are the pages around
// it, pages the number of pages of the document, and size that of its running text.
func (s *sheet) body(others []*sheet, pages int, size float64) []segment {
	drop := map[box]bool{}
	for _, edge := range []func(*sheet) []edgeRow{
		func(s *sheet) []edgeRow { return s.top },
		func(s *sheet) []edgeRow { return s.bottom },
	} {
		mine := edge(s)
		last := -1
		outer := make([]bool, len(mine))
		for i, row := range mine {
			outer[i] = repeated(row, s.height, others, edge, pages) ||
				i == last+1 && outermost(row, s.height) && (pageNumber.MatchString(row.text()) || runningHead(row, size))
			if outer[i] && row.gap >= 0.4*row.height() {
				last = i
			}
		}
		for i := range mine[:last+1] {
			for _, seg := range mine[i].segments {
				if outer[i] {
					drop[seg.box] = true
				}
			}
		}
	}
	if len(drop) == 0 {
		return s.segments
	}
	return slices.DeleteFunc(slices.Clone(s.segments), func(seg segment) bool { return drop[seg.box] })
}

// repeated says whether the same line stands at the same height on other pages nearby.
func repeated(row edgeRow, height float64, others []*sheet, edge func(*sheet) []edgeRow, pages int) bool {
	need := 2
	if pages <= window {
		need = 1
	}
	if row.sign == "" {
		return false
	}
	for _, o := range others {
		for _, r := range edge(o) {
			if r.sign == row.sign && abs(r.centerY()-row.centerY()) < 0.012*height {
				need--
				break
			}
		}
		if need <= 0 {
			return true
		}
	}
	return false
}

func outermost(row edgeRow, height float64) bool {
	return row.bottom < edgeOnly*height || row.top > (1-edgeOnly)*height
}

// runningHead knows a header or footer that stands on one page only: a few words in the outermost
// line with the page's number far from them at the edge, well apart from the text.
func runningHead(row edgeRow, size float64) bool {
	cells := cellsOf(row.line)
	if len(cells) < 2 || row.gap < 1.2*row.height() || row.size > 1.05*size {
		return false
	}
	number := func(c cell) bool { return len(c.words) == 1 && pageNumber.MatchString(c.words[0].text) }
	first, last := cells[0], cells[len(cells)-1]
	words := 0
	for _, c := range cells {
		if !number(c) {
			words += len(c.words)
		}
	}
	return words >= 3 && letters(row.text()) > 0 &&
		(number(last) && last.left-cells[len(cells)-2].right > 1.5*row.size || number(first) && cells[1].left-first.right > 1.5*row.size) &&
		!strings.ContainsFunc(row.text(), unicode.IsControl)
}
