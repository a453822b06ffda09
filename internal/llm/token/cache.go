package token

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

const (
	// slots is how many pieces a Counter remembers: the words of a few documents, in about a megabyte.
	slots = 1 << 14
	// rememberMax is the length in bytes of the longest piece that is remembered. Longer ones seldom come again.
	rememberMax = 48
)

// cache remembers the counts of pieces. A piece has one slot, by its hash, and takes it from the one before: so it is
// bounded, and readers wait for nobody.
type cache struct {
	seed    maphash.Seed // random, so that no text can be made whose pieces all share a slot
	entries [slots]atomic.Pointer[counted]
}

type counted struct {
	piece  string
	tokens int
}

type slot struct{ entry *atomic.Pointer[counted] }

func (c *cache) slot(piece string) slot {
	if len(piece) > rememberMax {
		return slot{}
	}
	return slot{&c.entries[maphash.String(c.seed, piece)%slots]}
}

func (s slot) get(piece string) (tokens int, ok bool) {
	if s.entry == nil {
		return 0, false
	}
	e := s.entry.Load()
	if e == nil || e.piece != piece {
		return 0, false
	}
	return e.tokens, true
}

func (s slot) put(piece string, tokens int) {
	if s.entry == nil {
		return
	}
	s.entry.Store(&counted{strings.Clone(piece), tokens}) // a clone: the piece keeps its whole text in memory
}
