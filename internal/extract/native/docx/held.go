package docx

import (
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxHeld limits the cells and blocks that are held at a time. The largest chart fits.
const maxHeld = 600_000

// maxDefined limits the styles, the lists and their uses that a document defines. Word has no more than some thousand.
const maxDefined = 1 << 16

// emit emits a block of the main text.
func (r *reader) emit(b extract.Block) error {
	r.held = 0
	return r.out.Block(b)
}

// into returns an Emit that holds blocks in a list.
func (r *reader) into(blocks *[]extract.Block) extract.Emit {
	return func(b extract.Block) error {
		*blocks = append(*blocks, b)
		return r.hold(1)
	}
}

// hold counts cells and blocks that are held: empty ones have no text that counts, and a small file may have millions.
func (r *reader) hold(n int) error {
	if r.held += n; r.held > maxHeld {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"a table, text box or note of the Word document holds more than %d cells and paragraphs: split it into smaller ones", maxHeld)
	}
	return nil
}

// holdNotes checks the number of notes and comments, all of which are held until the text refers to them.
func (r *reader) holdNotes() error {
	if len(r.notes)+len(r.comments) > maxHeld {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"the Word document has more than %d notes and comments: split it into smaller files", maxHeld)
	}
	return nil
}

// holdTables counts blocks that another reader made, with the cells of their tables.
func (r *reader) holdTables(blocks ...extract.Block) error {
	n := len(blocks)
	for _, b := range blocks {
		if b.Table == nil {
			continue
		}
		for _, row := range b.Table.Rows {
			n += len(row)
		}
	}
	return r.hold(n)
}
