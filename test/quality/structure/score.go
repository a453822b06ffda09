package structure

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/score"
)

// Tally counts what a reader found of what there is. F1 is the harmonic mean of precision and recall.
type Tally struct{ Right, Wanted, Found int }

func (t *Tally) add(o Tally) { t.Right += o.Right; t.Wanted += o.Wanted; t.Found += o.Found }

// F1 is 1 where nothing was wanted and nothing was found.
func (t Tally) F1() float64 {
	if t.Wanted+t.Found == 0 {
		return 1
	}
	return 2 * float64(t.Right) / float64(t.Wanted+t.Found)
}

// Score is what came of one document, or of a group.
type Score struct {
	Documents int
	Headings  Tally // text and level are right
	Levels    Tally // text alone
	Items     Tally // of lists: text
	Cells     Tally // of tables: text, at its row and column
	Shapes    Tally // tables with the right number of rows and columns
	Links     Tally // text and target
	Words     float64
	Order     float64
}

// Add adds another score; Words and Order become sums.
func (s *Score) Add(o Score) {
	s.Documents += o.Documents
	s.Headings.add(o.Headings)
	s.Levels.add(o.Levels)
	s.Items.add(o.Items)
	s.Cells.add(o.Cells)
	s.Shapes.add(o.Shapes)
	s.Links.add(o.Links)
	s.Words += o.Words
	s.Order += o.Order
}

// Compare scores what was found against the reference.
func Compare(want, got []extract.Block) Score {
	s := Parts(want, got)
	s.Words, s.Order = score.Score(markdown(want), markdown(got))
	return s
}

// Parts scores the parts that were found against the reference, without the words and their order.
func Parts(want, got []extract.Block) Score {
	s := Score{Documents: 1}
	heading := func(b extract.Block) (string, bool) { return plain(b.Text), b.Kind == extract.Heading }
	s.Levels = match(want, got, heading)
	s.Headings = match(want, got, func(b extract.Block) (string, bool) {
		text, ok := heading(b)
		return string(rune('0'+b.Level)) + text, ok
	})
	s.Items = match(want, got, func(b extract.Block) (string, bool) { return plain(b.Text), b.Kind == extract.ListItem })
	s.Cells, s.Shapes = matchTables(tables(want), tables(got))
	s.Links = bag(linksOf(want), linksOf(got))
	return s
}

// linksOf returns the text and the target of each link, in a form in which equal addresses are equal. An address that is
// written out does not count: it is a link in some formats, and text in others.
func linksOf(blocks []extract.Block) (all []string) {
	add := func(text string, links []extract.Link) {
		for _, l := range links {
			target, err := url.PathUnescape(l.Target)
			if err != nil {
				target = l.Target
			}
			target, text := strings.TrimSuffix(target, "/"), plain(text[l.Start:l.End])
			if !strings.HasSuffix(target, strings.TrimSuffix(text, "/")) {
				all = append(all, text+" "+target)
			}
		}
	}
	for _, b := range blocks {
		add(b.Text, b.Links)
		if b.Table == nil {
			continue
		}
		for _, row := range b.Table.Rows {
			for _, cell := range row {
				add(cell.Text, cell.Links)
			}
		}
	}
	return all
}

// plain is a text without what no reader can be asked for: the width of blanks, and compatibility forms. Blanks are
// left out altogether, as in Chinese they depend on where a line ended.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// match compares the keys of blocks.
func match(want, got []extract.Block, key func(extract.Block) (string, bool)) Tally {
	keys := func(blocks []extract.Block) (all []string) {
		for _, b := range blocks {
			if k, ok := key(b); ok {
				all = append(all, k)
			}
		}
		return all
	}
	return bag(keys(want), keys(got))
}

// bag compares two bags of keys.
func bag(want, got []string) Tally {
	left := map[string]int{}
	for _, k := range want {
		left[k]++
	}
	t := Tally{Wanted: len(want), Found: len(got)}
	for _, k := range got {
		if left[k] > 0 {
			left[k]--
			t.Right++
		}
	}
	return t
}

// markdown renders blocks for the comparison of words. Markers of list items are none: a browser makes them by a style.
func markdown(blocks []extract.Block) string {
	var b strings.Builder
	w := extract.NewMarkdownWriter(&b)
	for _, block := range blocks {
		if block.Kind == extract.ListItem {
			block.Marker = "-"
		}
		_ = w.Write(block) // a builder never fails
	}
	_ = w.Close()
	return b.String()
}

// place is where a cell begins in the grid of its table.
type place struct{ row, column int }

// grid is the cells of a table by their places.
type grid struct {
	cells         map[place]string
	rows, columns int
}

// tables returns the grids of all tables; slices of one table are joined.
func tables(blocks []extract.Block) []grid {
	var all []grid
	var rows [][]extract.Cell
	end := func() {
		if rows != nil {
			all = append(all, layout(rows))
		}
		rows = nil
	}
	for _, b := range blocks {
		switch {
		case b.Table == nil:
			end()
		case b.Table.Continued && rows != nil:
			rows = append(rows, b.Table.Rows[min(b.Table.Headers, len(b.Table.Rows)):]...)
		default:
			end()
			rows = slices.Clone(b.Table.Rows)
		}
	}
	end()
	return all
}

// layout places cells as HTML does: each in the first column that no cell above still covers.
func layout(rows [][]extract.Cell) grid {
	g := grid{cells: map[place]string{}, rows: len(rows)}
	covered := map[place]bool{}
	for r, row := range rows {
		c := 0
		for _, cell := range row {
			for covered[place{r, c}] {
				c++
			}
			if text := plain(cell.Text); text != "" {
				g.cells[place{r, c}] = text
			}
			for i := range max(1, cell.RowSpan) {
				for j := range max(1, cell.ColSpan) {
					covered[place{r + i, c + j}] = true
				}
			}
			c += max(1, cell.ColSpan)
			g.columns = max(g.columns, c)
		}
	}
	return g
}

// same counts the cells that two tables share.
func (g grid) same(o grid) (n int) {
	for at, text := range g.cells {
		if o.cells[at] == text {
			n++
		}
	}
	return n
}

// matchTables gives each wanted table the found one that shares most cells with it, the best pair first.
func matchTables(want, got []grid) (cells, shapes Tally) {
	for _, g := range want {
		cells.Wanted += len(g.cells)
	}
	for _, g := range got {
		cells.Found += len(g.cells)
	}
	shapes.Wanted, shapes.Found = len(want), len(got)
	for len(want) > 0 && len(got) > 0 {
		best, w, f := 0, 0, 0
		for i := range want {
			for j := range got {
				if n := want[i].same(got[j]); n > best {
					best, w, f = n, i, j
				}
			}
		}
		if best == 0 {
			break
		}
		cells.Right += best
		if want[w].rows == got[f].rows && want[w].columns == got[f].columns {
			shapes.Right++
		}
		want, got = slices.Delete(want, w, w+1), slices.Delete(got, f, f+1)
	}
	return cells, shapes
}
