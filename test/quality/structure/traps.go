package structure

import (
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// say adds a paragraph in a look.
func (w *writer) say(look Look, text string) {
	w.add(Part{Look: look, Block: extract.Block{Kind: extract.Paragraph, Text: text}})
}

// leads: a narrow, hyphenated text whose paragraphs begin with bold sentences that may be longer than a line.
func leads(w *writer) {
	w.Columns, w.Justified = 2, true
	for range 3 {
		w.heading(2, w.title())
		for i := range 7 {
			lead := w.pick(w.words.leads)
			if i%2 == 0 {
				lead = w.sentence()
			}
			w.add(Part{
				Lead: lead, Look: Small,
				Block: extract.Block{Kind: extract.Paragraph, Text: lead + w.words.space + w.text(2)},
			})
		}
	}
}

// taxes: a tax form, with numbered lines, dotted leaders and boxes whose small labels are bold.
func taxes(w *writer) {
	w.Running = w.pick(w.words.titles)
	w.say(Small, w.text(2))
	for i := range 3 {
		w.heading(2, w.title())
		cells := &extract.Table{}
		for r := range 2 {
			row := make([]extract.Cell, 3)
			for c := range row {
				row[c].Text = fmt.Sprintf("%d %s", 3*r+c+1, w.pick(w.words.columns))
			}
			cells.Rows = append(cells.Rows, row)
		}
		w.add(Part{Look: Small, Bold: true, Block: extract.Block{Kind: extract.TableKind, Table: cells}})
		for j := range 5 {
			number := fmt.Sprintf("%d%c", i+1, 'a'+j)
			if j%2 == 0 {
				w.add(Part{Look: Entry, Lead: number, Leader: number, Block: extract.Block{
					Kind: extract.Paragraph, Text: number + " " + w.pick(w.words.items) + " " + number,
				}})
				continue
			}
			lead := number + " " + w.pick(w.words.leads)
			w.add(Part{
				Look: Small, Lead: lead,
				Block: extract.Block{Kind: extract.Paragraph, Text: lead + w.words.space + w.text(2)},
			})
		}
	}
}

// contents: a table of contents before the sections that it names.
func contents(w *writer) {
	var heads []string
	for i := range 4 {
		heads = append(heads, fmt.Sprintf("%d %s", i+1, w.title()))
		for j := range 2 {
			heads = append(heads, fmt.Sprintf("%d.%d %s", i+1, j+1, w.title()))
		}
	}
	for i, head := range heads {
		page := fmt.Sprint(1 + i/4)
		w.add(Part{Look: Entry, Leader: page, Block: extract.Block{Kind: extract.Paragraph, Text: head + " " + page}})
	}
	for i, head := range heads {
		w.heading(2+min(1, i%3), head)
		w.Parts[len(w.Parts)-1].Break = i == 0
		w.paragraphs(1)
	}
}

// keywords: commands in capitals, programs of one line, and words of programs in bold.
func keywords(w *writer) {
	for i, line := range []string{"COMMIT;", "BEGIN ISOLATION LEVEL SERIALIZABLE;", "DROP TABLE samples;"} {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.add(Part{Lead: "SELECT", Block: extract.Block{Kind: extract.Code, Text: programs[0]}})
		w.paragraphs(1)
		w.add(Part{Block: extract.Block{Kind: extract.Code, Text: line}})
		w.say(Plain, "NOT NULL "+w.sentence())
		w.add(Part{Lead: "CREATE TABLE", Block: extract.Block{Kind: extract.Code, Text: programs[2]}})
		w.heading(3, []string{"SELECT", "CREATE INDEX", "GROUP BY"}[i])
		w.paragraphs(1)
	}
}

// running: heads and feet with page numbers, sections that begin at 4, and several pages.
func running(w *writer) {
	w.Running, w.Foot = w.pick(w.words.titles), w.pick(w.words.headings)
	for i := 4; i <= 6; i++ {
		w.heading(2, fmt.Sprintf("%d %s", i, w.title()))
		w.paragraphs(3)
		for j := 1; j <= 3; j++ {
			w.heading(3, fmt.Sprintf("%d.%d %s", i, j, w.title()))
			w.paragraphs(3)
		}
	}
}

// wrapped: headings of two lines, some of them the last thing on their page.
func wrapped(w *writer) {
	for i := range 4 {
		head := w.title()
		for range 2 {
			head += w.words.comma + w.title() + w.words.comma + strings.ToLower(w.title())
		}
		if i%2 == 1 {
			head = fmt.Sprintf("%d. %s", i/2+1, head)
		}
		w.heading(2, head)
		w.paragraphs(3)
		w.heading(3, w.title())
		w.paragraphs(1)
		w.Parts[len(w.Parts)-1].Break = i%2 == 0
	}
}

// alphabet: headings with capital letters, and below them numbers.
func alphabet(w *writer) {
	for i := range 3 {
		w.heading(2, fmt.Sprintf("%c. %s", 'A'+i, w.title()))
		w.paragraphs(1)
		for j := range 2 {
			w.heading(3, fmt.Sprintf("%d. %s", j+1, w.title()))
			w.paragraphs(1)
			w.list(3, 0, decimal)
		}
	}
}

// captions: bold lines above tables and below pictures.
func captions(w *writer) {
	for i := range 3 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.caption(fmt.Sprintf(w.words.captions[0], i+1))
		w.table(4, 4, i == 1)
		w.paragraphs(1)
		w.caption(fmt.Sprintf(w.words.captions[1], i+1))
		w.paragraphs(1)
	}
}

func (w *writer) caption(name string) {
	w.add(Part{Bold: true, Look: Small, Block: extract.Block{Kind: extract.Caption, Text: name + " " + w.sentence()}})
}

// paper: two columns below a centered title, with formulas and references.
func paper(w *writer) {
	w.Columns, w.Justified = 2, true
	w.Parts[0].Look = Centered
	w.say(Centered, strings.Join(w.words.names[:3], ", "))
	for i := range 4 {
		w.heading(2, fmt.Sprintf("%s. %s", roman(i), w.title()))
		w.paragraphs(1)
		if !w.RightToLeft() {
			w.say(Centered, fmt.Sprintf("f(x) = a + %d b − c / 2   (%d)", i+2, i+1))
		}
		w.heading(3, fmt.Sprintf("%c. %s", 'A', w.title()))
		w.paragraphs(2)
	}
	w.heading(2, w.title())
	for i := range 8 {
		w.say(Small, fmt.Sprintf("[%d] %s, %s. %s, %d.", i+1, w.pick(w.words.names), w.pick(w.words.names),
			w.pick(w.words.titles), 1970+w.rand.IntN(55)))
	}
}

// spaced: headings whose letters are far apart.
func spaced(w *writer) {
	w.Parts[0].Look = Spaced
	for range 4 {
		w.heading(2, w.title())
		w.Parts[len(w.Parts)-1].Look = Spaced
		w.paragraphs(2)
	}
}

// symbols: lists whose bullets are characters of symbol fonts.
func symbols(w *writer) {
	w.Symbols = true
	for range 3 {
		w.heading(2, w.title())
		w.paragraphs(1)
		w.list(3, 0, bullet)
		w.list(3, 1, bullet)
		w.list(2, 2, bullet)
		w.list(1, 0, bullet)
		w.paragraphs(1)
	}
}

// nested: lists of numbers with bullets and letters within, and items of several lines.
func nested(w *writer) {
	long := func(depth int, marker string) {
		w.add(Part{Block: extract.Block{Kind: extract.ListItem, Level: depth, Marker: marker, Text: w.text(3)}})
	}
	for range 2 {
		w.heading(2, w.title())
		w.paragraphs(1)
		for i := range 3 {
			long(0, decimal(i))
			w.list(2, 1, lettered)
			long(1, lettered(2))
			w.list(2, 2, bullet)
		}
		w.paragraphs(1)
		for range 3 {
			long(0, "-")
			w.list(2, 1, decimal)
		}
	}
}

// definitions: bold terms on lines of their own, and what they mean below them.
func definitions(w *writer) {
	for range 2 {
		w.heading(2, w.title())
		w.paragraphs(1)
		for range 5 {
			term := w.pick(w.words.columns)
			w.add(Part{Look: Term, Bold: true, Block: extract.Block{Kind: extract.Paragraph, Text: term}})
			w.say(Definition, w.text(2))
		}
	}
}

// footnotes: small paragraphs with raised numbers at the end.
func footnotes(w *writer) {
	for range 3 {
		w.heading(2, w.title())
		w.paragraphs(2)
	}
	for i := range 5 {
		number := fmt.Sprint(i + 1)
		w.add(Part{
			Look: Note, Lead: number,
			Block: extract.Block{Kind: extract.Paragraph, Text: number + " " + w.text(1+i%2)},
		})
	}
}

// dates: dates, amounts, codes and foreign names within sentences, and lines that break next to them.
func dates(w *writer) {
	w.words.sentences = append(w.words.dated, w.words.sentences[:3]...)
	for i := range 3 {
		w.heading(2, w.title())
		w.paragraphs(4)
		if i == 1 {
			w.list(5, 0, bullet)
		}
	}
}
