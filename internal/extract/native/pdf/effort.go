package pdf

import (
	"context"
	"fmt"
)

// effort bounds what the search for the columns of one page may cost: how many segments are looked at, all gutters that
// are tried together. A page of a newspaper takes some hundred thousand; poppler's limits know nothing of it.
type effort struct{ left int }

// maxEffort is a second or two.
const maxEffort = 6_000_000

// spend takes n of it. False: there is less left, and from then on there is none.
func (e *effort) spend(n int) bool {
	if e.left < n {
		e.left = 0
		return false
	}
	e.left -= n
	return true
}

// ended is the error of a context that has ended: whoever lays out a page holds memory and a worker's place.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("lay out a page: %w", context.Cause(ctx))
	}
	return nil
}
