package rtf

import (
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxParts limits the cells and paragraphs that are held at a time.
const maxParts = 600_000

// emit emits a block of the main text.
func (r *reader) emit(b extract.Block) error {
	r.parts = 0
	return r.out.Block(b)
}

// hold counts a block that a cell, a note or a text box holds, with the cells of its table: empty ones have no text that
// counts, and a few bytes can state a row of many.
func (r *reader) hold(b extract.Block) error {
	r.parts++
	if b.Table != nil {
		for _, row := range b.Table.Rows {
			r.parts += len(row)
		}
	}
	if r.parts > maxParts {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"a table, text box or note of the Rich Text document holds more than %d cells and paragraphs: split it into smaller ones", maxParts)
	}
	return nil
}
