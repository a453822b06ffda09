package pdf

import (
	"context"
	"fmt"
)

// effort limits the cost of finding the columns of one page: the number of segments that are looked at for all
// gutters together. A newspaper page takes some hundred thousand. Poppler's limits don't cover it.
type effort struct{ left int }

// maxEffort takes a second or two.
const maxEffort = 6_000_000

// spend takes n. It returns false if less is left, and from then on nothing is left.
func (e *effort) spend(n int) bool {
	if e.left < n {
		e.left = 0
		return false
	}
	e.left -= n
	return true
}

// ended returns the error of a context that has ended. A layout holds memory and a worker slot, so it must
// stop.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("lay out a page: %w", context.Cause(ctx))
	}
	return nil
}
