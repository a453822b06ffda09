package pptx

import (
	"cmp"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// rowTolerance is how far, in EMU, the tops of two elements in one row may differ.
const rowTolerance = 45_720 // 0.05 inch

// inOrder sorts elements into reading order: titles, then rows from the top, each from the left, then what has no
// place, then footers. What is drawn above what stays in Z.
func inOrder(elements []deck.Element) []deck.Element {
	group := func(e deck.Element) int {
		switch e.Role {
		case deck.TitleRole:
			return 0
		case deck.FooterRole, deck.DateRole, deck.NumberRole:
			return 3
		case deck.SubtitleRole, deck.BodyRole, "":
		}
		if e.Box == nil {
			return 2
		}
		return 1
	}
	out := slices.Clone(elements)
	slices.SortStableFunc(out, func(a, b deck.Element) int {
		if g := cmp.Compare(group(a), group(b)); g != 0 || a.Box == nil || b.Box == nil {
			return g
		}
		return cmp.Compare(a.Box.Y, b.Box.Y)
	})
	begin := 0
	for i := 1; i <= len(out); i++ {
		if i < len(out) && group(out[i]) == group(out[i-1]) && out[i].Box != nil && out[i-1].Box != nil &&
			out[i].Box.Y-out[i-1].Box.Y <= rowTolerance {
			continue
		}
		slices.SortStableFunc(out[begin:i], func(a, b deck.Element) int {
			if a.Box == nil || b.Box == nil {
				return 0
			}
			return cmp.Compare(a.Box.X, b.Box.X)
		})
		begin = i
	}
	if slices.IsSortedFunc(out, func(a, b deck.Element) int { return cmp.Compare(a.Z, b.Z) }) {
		for i := range out { // both orders are the same
			out[i].Z = 0
		}
	}
	return out
}
