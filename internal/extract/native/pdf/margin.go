package pdf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// window is how many pages before and after a page are compared with it. A page is laid out when this many more
// were read; no more of the document is ever in memory.
const window = 6

// sheet is a page within the window.
type sheet struct {
	*page
	tables   []*ruledTable
	segments []segment // of its words and tables
	top      []edgeRow // from the edge inwards
	bottom   []edgeRow
	sides    []sideMark
}

// edgeRow is a line near the top or bottom of a page.
type edgeRow struct {
	line
	pattern string  // its text without the parts that change between pages
	gap     float64 // to the next line inwards, in points
	apart   bool    // the gap is wider than those between the following lines
}

const (
	edgeRows = 4    // lines to compare at each edge
	edgePart = 0.3  // of the page height: small pages may be printed on large sheets
	edgeOnly = 0.13 // of the page height: where text of a single page may be a header
)

// newSheet prepares a page for comparison. before is the page before, or nil.
func newSheet(p *page, before *sheet) *sheet {
	s := &sheet{page: p}
	var columns []float64
	if before != nil && len(before.tables) > 0 {
		columns = before.tables[len(before.tables)-1].columns
	}
	var rest []word
	s.tables, rest = p.ruledTables(columns)
	s.segments = segmentsOf(withoutStamps(p, rest))
	p.drawnBullets(s.segments)
	for _, t := range s.tables {
		s.segments = append(s.segments, t.segment())
	}
	s.sides = p.sideMarks(s.segments)
	lines := linesIn(slices.Clone(s.segments))
	s.top = edge(lines, func(l line) bool { return l.bottom <= p.height*edgePart })
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.bottom, a.bottom) })
	s.bottom = edge(lines, func(l line) bool { return l.top >= p.height*(1-edgePart) })
	return s
}

// edge returns the edgeRows of the lines that are near the edge, up to the first table. lines go from the edge inwards.
func edge(lines []line, near func(line) bool) []edgeRow {
	alone := 1e6
	var out []edgeRow
	gap := func(i int) float64 {
		if i+1 >= len(lines) {
			return alone
		}
		a, b := lines[i].box, lines[i+1].box
		return max(a.top, b.top) - min(a.bottom, b.bottom)
	}
	for i := range lines[:min(len(lines), edgeRows)] {
		if !near(lines[i]) || lines[i].drawn() {
			break
		}
		usual, h := alone, lines[i].height()
		for j := i + 1; j <= i+3; j++ {
			usual = min(usual, gap(j))
		}
		lines[i].collect()
		out = append(out, edgeRow{
			line: lines[i], pattern: patternOf(lines[i]), gap: gap(i),
			apart: gap(i) >= 0.4*h && (i+1 < len(lines) && lines[i+1].drawn() || gap(i) > 1.25*usual || gap(i) > 1.5*h && abs(gap(i)-usual) > 0.1*usual),
		})
	}
	return out
}

// withoutStamps omits words that run up or down along the left or right edge, such as an archive's stamp, of a
// page that is otherwise upright.
func withoutStamps(p *page, words []word) []word {
	atEdge := func(w word) bool { return w.right < 0.08*p.width || w.left > 0.92*p.width }
	stamps := map[int]bool{} // segments
	for _, w := range words {
		if w.height() > 1.8*w.width() && len([]rune(w.text)) > 2 && w.height() > 1.8*w.size && atEdge(w) {
			stamps[w.segment] = true
		}
	}
	if len(stamps) == 0 {
		return words
	}
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool { return stamps[w.segment] && atEdge(w) })
}

var digits = pattern.New(`\d+`)

func patternOf(l line) string {
	return digits.ReplaceAllString(strings.ToLower(strings.Join(strings.Fields(l.text()), " ")), "#")
}

// pageNumber matches a line that holds only a page number.
var pageNumber = pattern.New(`(?i)^[-–—|\s]*((page|seite|página|pagina|p\.|s\.)\s*)?([ivxlc]{1,6}|(\d{1,3}|[A-Z])[-–.]\d{1,3}|\d{1,4})(\s*(/|of|von|de|di|sur|van)\s*\d{1,4})?[-–—|\s]*$`)

// body removes the running headers, footers and page numbers of s. others are the pages around it, pages is the
// number of pages of the document, and of its running text.
func (s *sheet) body(others []*sheet, pages int, of *stats) []segment {
	drop := map[box]bool{}
	all, size := others, of.body()
	others = slices.DeleteFunc(slices.Clone(others), s.twin)
	for _, edge := range []func(*sheet) []edgeRow{
		func(s *sheet) []edgeRow { return s.top },
		func(s *sheet) []edgeRow { return s.bottom },
	} {
		mine := edge(s)
		last := -1
		outer := make([]bool, len(mine))
		for i, row := range mine {
			outer[i] = repeated(row, s.height, others, edge, pages) || s.numbered(row, others, edge, pages) ||
				i == last+1 && outermost(row, s.height) && (pageNumber.MatchString(row.text()) ||
					runningHead(row, size) || s.repeatsHeading(row))
			if outer[i] && row.apart {
				last = i
			}
		}
		for i := range mine[:last+1] {
			for _, seg := range mine[i].segments {
				if outer[i] && !s.titled(seg, all, of) {
					drop[seg.box] = true
				}
			}
		}
	}
	for _, seg := range s.segments {
		if s.repeatedBeside(seg, others) {
			drop[seg.box] = true
		}
	}
	if len(drop) == 0 {
		return s.segments
	}
	return slices.DeleteFunc(slices.Clone(s.segments), func(seg segment) bool { return drop[seg.box] })
}

// twin reports whether all lines at the edges of two pages are equal. Then the pages are copies, or have one
// line each, and reveal nothing about headers.
func (s *sheet) twin(o *sheet) bool {
	same := func(a, b []edgeRow) bool {
		return slices.EqualFunc(a, b, func(x, y edgeRow) bool { return x.pattern == y.pattern })
	}
	return same(s.top, o.top) && same(s.bottom, o.bottom)
}

// repeated reports whether the same line is at the same height on other pages nearby.
func repeated(row edgeRow, height float64, others []*sheet, edge func(*sheet) []edgeRow, pages int) bool {
	need := 2
	if pages <= window {
		need = 1
	}
	if row.pattern == "" {
		return false
	}
	for _, o := range others {
		for _, r := range edge(o) {
			if r.pattern == row.pattern && abs(r.centerY()-row.centerY()) < 0.012*height {
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

// titled reports whether a repeated segment at the top of the document's first page is its title: another page has it, too, and
// it is larger than the running text, or bold. On a later page it would part the text that goes on there.
func (s *sheet) titled(seg segment, others []*sheet, of *stats) bool {
	const larger = 1.15
	text, look := joinWords(seg.words), lookOf(seg.words)
	if seg.top > s.height/2 || letters(text) < 2 || pageNumber.MatchString(text) || look.size < of.body() ||
		look.size < larger*of.body() && (!look.bold || of.mostlyBold()) ||
		slices.ContainsFunc(others, func(o *sheet) bool { return o.number < s.number }) {
		return false
	}
	return slices.ContainsFunc(others, func(o *sheet) bool {
		return slices.ContainsFunc(o.top, func(r edgeRow) bool {
			return slices.ContainsFunc(r.segments, func(at segment) bool { return joinWords(at.words) == text })
		})
	})
}

// numbered reports whether a line contains the number of its page beside other words, as pages nearby do at the
// same height. An example is a section title, which changes between the pages.
func (s *sheet) numbered(row edgeRow, others []*sheet, edge func(*sheet) []edgeRow, pages int) bool {
	first, ok := row.firstPage(s.number)
	if !ok {
		return false
	}
	need := 2
	if pages <= window {
		need = 1
	}
	for _, o := range others {
		if slices.ContainsFunc(edge(o), func(r edgeRow) bool {
			begins, ok := r.firstPage(o.number)
			return ok && begins == first && abs(r.centerY()-row.centerY()) < 0.012*s.height
		}) {
			need--
		}
	}
	return need <= 0
}

// maxHeadWords is the maximum number of words in a running head without its number.
const maxHeadWords = 16

// firstPage returns the number of the document's first page if a number at the start or end of the line, far
// from its other words, is the page number.
func (r edgeRow) firstPage(page int) (int, bool) {
	cells := cellsOf(r.line)
	if len(cells) < 2 || len(r.words()) > maxHeadWords {
		return 0, false
	}
	for _, c := range []cell{cells[0], cells[len(cells)-1]} {
		if len(c.words) != 1 {
			continue
		}
		if n := pageValue(c.words[0].text); n > 0 {
			return n - page, true
		}
	}
	return 0, false
}

// pageValue returns a page number in Arabic or Roman numerals; 0: not one.
func pageValue(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n < 10_000 {
		return n
	}
	return romanValue(strings.ToLower(s))
}

func outermost(row edgeRow, height float64) bool {
	return row.bottom < edgeOnly*height || row.top > (1-edgeOnly)*height
}

// repeatsHeading reports whether a line at the edge of a page has the text of another one there, in smaller letters:
// the title of a document of one page.
func (s *sheet) repeatsHeading(row edgeRow) bool {
	return slices.ContainsFunc(s.segments, func(o segment) bool {
		return o.size > 1.15*row.size && len(o.words) == len(row.words()) && joinWords(o.words) == row.text()
	})
}

// runningHead detects a header or footer that is on one page only: a few words in the outermost line, well
// apart from the text, with the page number far from them at the edge.
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
		(number(last) && last.left-cells[len(cells)-2].right > 1.5*row.size || number(first) &&
			cells[1].left-first.right > 1.5*row.size) &&
		!strings.ContainsFunc(row.text(), unicode.IsControl)
}
