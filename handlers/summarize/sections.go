package summarize

import "hash/fnv"

// loose is the bond of a passage that begins no section: any heading parts more.
const loose = 7

// openingBytes is how much of the start of a passage without a heading tells where it is cut.
const openingBytes = 48

// seam is what may be cut before: a passage, or a node whose first passage it is.
type seam struct {
	weight  int // tokens of what follows, up to the next seam
	bond    int
	opening uint64
}

// place orders seams of the same bond by what stands there, FNV-1a, and not by where they are.
func place(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}

// sections divides a row of seams into runs of at most a number of tokens, and returns where each begins. A run that
// is too long is cut at the seam that parts most, the highest heading, and among equals at the one whose text has the
// least hash, and so on with both halves, as a treap is built (Seidel and Aragon, "Randomized Search Trees", 1996).
// So each cut is decided by what stands there and by the run that it is in, and an edit changes the section that it is
// in, and seldom a neighbour. No run is less than a quarter of that, where this can be had.
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

// cut chooses the seam between first and end at which both sides have at least that many tokens; if none, all count.
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
