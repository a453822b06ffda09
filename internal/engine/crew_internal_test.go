package engine

import (
	"sync"
	"testing"
	"testing/synctest"
)

// TestCrew: a goroutine without work does the next one's, no more are kept than crewKept, and all of them end.
func TestCrew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		many := func(n int) {
			hold := make(chan struct{})
			var done sync.WaitGroup
			done.Add(n)
			for range n {
				c.run(func() {
					defer done.Done()
					<-hold
				})
			}
			synctest.Wait()
			close(hold)
			done.Wait()
			synctest.Wait()
		}
		for _, step := range []struct{ run, kept int64 }{{3, 3}, {2, 3}, {5, 5}, {crewKept + 20, crewKept}} {
			many(int(step.run))
			if kept := c.kept.Load(); kept != step.kept {
				t.Errorf("after %d at once %d goroutines are kept, want %d", step.run, kept, step.kept)
			}
		}
		c.end()
		c.end()
	}) // it fails if a goroutine is left
}
