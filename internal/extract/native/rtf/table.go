package rtf

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	maxCells = 1024 // of a row
	maxRows  = 500  // rows held to find their common columns
	maxHeld  = 256 << 10

	cellCost       = 64 // bytes of a cell without text, and of its definition
	definitionCost = 16 // bytes of a definition without a cell
)

// definition is the row layout given by \trowd and the words after it. Rows share its cells until the next \trowd: a \cellx
// only appends to them.
type definition struct {
	left   int
	header bool
	cells  []cellDefinition
	next   cellDefinition // the cell being defined, until its \cellx

	held int // cells that a row of the table holds
}

type cellDefinition struct {
	right       int  // twips
	joined      bool // \clmrg: merged with the cell to the left
	joinedAbove bool // \clvmrg: merged with the cell above
	beginsTall  bool // \clvmgf
}

// row is a finished row.
type row struct {
	cells [][]extract.Block
	definition
}

// table is an open table.
type table struct {
	emit  extract.Emit
	out   *extract.TableWriter
	def   definition
	cells [][]extract.Block // of the row being read
	cell  []extract.Block   // the cell being read
	rows  []row
	held  int // bytes in rows
	past  bool
}

// to returns the emit function for a table at this depth.
func (s *story) to(depth int) extract.Emit {
	if depth == 0 {
		return s.emit
	}
	t := s.table(depth)
	return func(b extract.Block) error {
		t.cell = append(t.cell, b)
		return s.hold(b)
	}
}

// table returns the open table of a depth, from 1, and opens it if needed.
func (s *story) table(depth int) *table {
	for len(s.tables) < depth {
		emit := s.to(len(s.tables))
		s.tables = append(s.tables, &table{emit: emit, out: extract.NewTableWriter(emit, extract.Block{})})
	}
	return s.tables[depth-1]
}

// closeTables closes all tables except the outermost depth ones.
func (s *story) closeTables(depth int) error {
	for len(s.tables) > depth {
		t := s.tables[len(s.tables)-1]
		s.tables = s.tables[:len(s.tables)-1]
		if len(t.cells) > 0 || len(t.cell) > 0 { // a row without its \row
			if err := t.endRow(); err != nil {
				return err
			}
		}
		if err := t.finish(); err != nil {
			return err
		}
	}
	return nil
}

// tableWord handles the control words of tables.
func (r *reader) tableWord(t token) error {
	depth := 1
	if r.nested || t.word == "nestcell" || t.word == "nestrow" {
		depth = max(r.par.depth, 2)
	}
	switch t.word {
	case "cell", "nestcell":
		before := r.par.depth
		r.par.depth = depth
		err := r.endParagraph()
		r.par.depth = before
		if err != nil {
			return err
		}
		r.story.table(depth).endCell()
		return nil
	case "row", "nestrow":
		if err := r.story.closeTables(depth); err != nil {
			return err
		}
		return r.story.table(depth).endRow()
	case "trowd":
		r.story.table(depth).def.word(t)
		return r.endBeforeTable()
	case "cellx", "clmrg", "clvmgf", "clvmrg", "trhdr", "trleft":
		r.story.table(depth).def.word(t)
	}
	return nil
}

func (d *definition) word(t token) {
	switch t.word {
	case "trowd":
		*d = definition{}
	case "trhdr":
		d.header = true
	case "trleft":
		d.left = t.number
	case "clmrg":
		d.next.joined = true
	case "clvmgf":
		d.next.beginsTall = true
	case "clvmrg":
		d.next.joinedAbove = true
	case "cellx":
		d.next.right = t.number
		if len(d.cells) < maxCells {
			d.cells = append(d.cells, d.next)
		}
		d.next = cellDefinition{}
	}
}

func (t *table) endCell() {
	if len(t.cells) < maxCells {
		t.cells = append(t.cells, t.cell)
	} else if last := len(t.cells) - 1; last >= 0 {
		t.cells[last] = append(t.cells[last], t.cell...)
	}
	t.cell = nil
}

func (t *table) endRow() error {
	if len(t.cell) > 0 {
		t.endCell()
	}
	if len(t.cells) == 0 {
		return nil
	}
	w := row{cells: t.cells, definition: t.def}
	t.cells = nil
	if len(t.rows) >= maxRows && !w.continues() || t.held > maxHeld {
		if err := t.write(); err != nil {
			return err
		}
		t.past = true
	}
	for _, blocks := range w.cells {
		for _, b := range blocks {
			t.held += len(b.Text)
		}
		t.held += cellCost
	}
	t.held += definitionCost * max(len(t.def.cells)-max(t.def.held, len(w.cells)), 0) // the cost of a cell includes its own
	t.def.held = len(t.def.cells)
	t.rows = append(t.rows, w)
	return nil
}

// finish ends the table. A table with a single cell is a frame around its content and is emitted as such.
func (t *table) finish() error {
	if !t.past && len(t.rows) == 1 && len(t.rows[0].cells) == 1 {
		for _, b := range t.rows[0].cells[0] {
			if err := t.emit(b); err != nil {
				return err
			}
		}
		return nil
	}
	return t.write()
}

// write emits the rows as a slice of the table.
func (t *table) write() error {
	lines := edges(t.rows)
	above := map[int]*extract.Cell{} // by column: the cell that may continue below
	rows := make([][]extract.Cell, len(t.rows))
	contents := make([][][]extract.Block, len(t.rows))
	for i, w := range t.rows {
		rows[i], contents[i] = w.place(lines, above)
	}
	for i, w := range t.rows {
		blocks := extract.Framed(rows[i], contents[i])
		if blocks == nil || w.continues() {
			t.out.Row(rows[i], w.header)
			continue
		}
		if err := t.out.Frame(blocks); err != nil {
			return err
		}
	}
	t.rows, t.held = nil, 0
	return t.out.Flush()
}

// continues reports whether a cell of the row continues the one above.
func (w *row) continues() bool {
	return slices.ContainsFunc(w.definition.cells, func(c cellDefinition) bool { return c.joinedAbove })
}
