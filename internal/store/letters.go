package store

import (
	"context"
	"iter"
)

// lettersPage is how many dead letters WalkDeadLetters reads at a time.
const lettersPage = 100

// WalkDeadLetters returns the dead letters that f selects one after the other, in as many pages as they take; f.Limit of
// them at most, zero: all. An error is the last that it returns.
func WalkDeadLetters(ctx context.Context, r Reader, f DeadLetterFilter) iter.Seq2[DeadLetter, error] {
	return func(yield func(DeadLetter, error) bool) {
		left, bounded := f.Limit, f.Limit > 0
		for more := true; more; {
			if f.Limit = lettersPage; bounded {
				f.Limit = min(left, lettersPage)
			}
			page, err := r.DeadLetters(ctx, f)
			if err != nil {
				yield(DeadLetter{}, err)
				return
			}
			n := len(page)
			if more = n > 0 && (n == f.Limit || page[n-1].More); more {
				f.After = page[n-1].Cursor()
				page[n-1].More = false
			}
			for _, d := range page {
				if !yield(d, nil) {
					return
				}
			}
			left -= n
			more = more && (!bounded || left > 0)
		}
	}
}
