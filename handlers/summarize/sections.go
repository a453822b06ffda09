package summarize

import "hash/fnv"

// loose is the bond of a passage without a heading at its start: any heading separates more.
const loose = 7

// openingBytes is how much of the start of a passage without a heading decides its cut.
const openingBytes = 48

// seam is a possible cut: before a passage, or before a node that starts with it.
type seam struct {
	weight  int // tokens up to the next seam
	bond    int
	opening uint64
}

// place orders seams of the same bond by the FNV-1a hash of their text, not by position.
func place(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// sections divides a row of seams into runs of at most a number of tokens, and returns where each begins. A run that is
// too long is cut at the highest heading; among equals, at the seam whose text has the least hash. Both halves are cut
// in the same way, like building a treap (Seidel and Aragon, "Randomized Search Trees", 1996). Each cut thus depends
// only on its text and its run: an edit changes its own section and seldom a neighbour. Runs have at least a quarter of
// that number if possible.
func sections(row []seam, most int) []int {
	ends := make([]int, len(row)+1) // sums of weights
	for i, s := range row {
		ends[i+1] = ends[i] + s.weight
	}
	var begins []int
	var divide func(first, end int)
	divide = func(first, end int) {
		at := 0
		if end-first > 1 && ends[end]-ends[first] > most {
			at = cut(row, ends, first, end, most/4)
		}
		if at == 0 {
			begins = append(begins, first)
			return
		}
		divide(first, at)
		divide(at, end)
	}
	if len(row) > 0 {
		divide(0, len(row))
	}
	return begins
}

// cut chooses a seam between first and end with at least that many tokens on both sides; if none has, any seam.
func cut(row []seam, ends []int, first, end, least int) int {
	best := 0
	for _, least := range []int{least, 0} {
		for i := first + 1; i < end; i++ {
			if ends[i]-ends[first] < least || ends[end]-ends[i] < least {
				continue
			}
			if best == 0 || row[i].bond < row[best].bond || row[i].bond == row[best].bond &&
				row[i].opening < row[best].opening {
				best = i
			}
		}
		if best > 0 {
			break
		}
	}
	return best
}
