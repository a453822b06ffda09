package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// textVersion goes into every sum: it rises when the same blocks would give another one.
const textVersion = 1

// boxGrain is how finely places are told apart, in parts of a page: a highlight that moves by less is where it was.
const boxGrain = 1000

// textSum is the SHA-256 of what was extracted of a document: all that its chunks, and the places which an answer
// cites, are made of. Bytes that differ give the same sum when they say the same, in the same structure, on the same
// pages and at the same places: a PDF or an Office file that was saved again, or that has other properties.
type textSum struct{ h hash.Hash }

func newTextSum() textSum {
	s := textSum{sha256.New()}
	s.number(textVersion)
	return s
}

// add takes the next block. Each text goes in with its length before it, so that no two different lists of
// blocks are the same bytes.
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
