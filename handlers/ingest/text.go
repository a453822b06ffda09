package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// textVersion is part of every sum. It increases when the same blocks give another sum.
const textVersion = 1

// boxGrain is the resolution of places, in fractions of a page: smaller moves of a highlight don't count.
const boxGrain = 1000

// textSum is the SHA-256 of what was extracted of a document: everything that decides its chunks and their cited places.
// Different bytes have the same sum if the text, its structure, pages and places are equal, e.g. in a PDF or an Office
// file that was saved again, or has other properties.
type textSum struct{ h hash.Hash }

func newTextSum() textSum {
	s := textSum{sha256.New()}
	s.number(textVersion)
	return s
}

// add adds the next block. Each text is prefixed with its length, so that different lists of blocks are different
// bytes.
func (s textSum) add(b extract.Block) {
	s.text(string(b.Kind))
	s.text(b.Text)
	s.number(b.Level)
	s.text(b.Marker)
	s.text(b.Language)
	s.number(b.Page)
	if b.Box == nil {
		s.number(0)
	} else {
		s.number(1)
		for _, edge := range [...]float64{b.Box.Left, b.Box.Top, b.Box.Right, b.Box.Bottom} {
			s.number(int(math.Round(edge * boxGrain)))
		}
	}
	if b.Table != nil {
		s.table(*b.Table)
	}
}

func (s textSum) table(t extract.Table) {
	s.number(t.Headers)
	continued := 0
	if t.Continued {
		continued = 1
	}
	s.number(continued)
	s.number(len(t.Rows))
	for _, row := range t.Rows {
		s.number(len(row))
		for _, cell := range row {
			s.text(cell.Text)
			s.number(cell.ColSpan)
			s.number(cell.RowSpan)
		}
	}
}

func (s textSum) sum() string { return hex.EncodeToString(s.h.Sum(nil)) }

func (s textSum) text(t string) {
	s.number(len(t))
	s.h.Write([]byte(t))
}

func (s textSum) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	s.h.Write(b[:])
}
