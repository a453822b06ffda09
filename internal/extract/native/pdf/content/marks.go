package content

import (
	"math"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// maxMarks limits those of a page; more are a drawing's.
const maxMarks = 5_000

// marks adds the small shapes that are painted and have a slanted side or a curve.
func (in *interpreter) marks(op object.Operator) {
	const least, most = 3.0, 20.0 // points
	stroked := op == "S" || op == "s"
	if op == "n" || stroked && (in.state.stroke.hidden || in.state.stroke.white) ||
		!stroked && (in.state.fill.hidden || in.state.fill.white) {
		return
	}
	for _, s := range in.path {
		b := s.box()
		if w, h := b.width(), b.height(); finite(b) && min(w, h) >= least && max(w, h) <= most && (s.curved || s.slanted()) &&
			!b.intersect(in.state.clip).empty() && len(in.out.Marks) < maxMarks {
			in.out.Marks = append(in.out.Marks, b)
		}
	}
}

// slanted reports whether a side of the path runs neither across nor down.
func (s subpath) slanted() bool {
	const least = 1.5 // points
	for i := 1; i < len(s.corners); i++ {
		a, b := s.corners[i-1], s.corners[i]
		if math.Abs(a.x-b.x) > least && math.Abs(a.y-b.y) > least {
			return true
		}
	}
	return false
}
