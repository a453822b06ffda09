package child_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// TestPoolEndsAll: every task finally gets its memory, for any amounts and any order, and the pool is never exceeded.
// Tasks behave like documents: some hold a stream while they do steps, as with OCR.
func TestPoolEndsAll(t *testing.T) {
	t.Parallel()
	const total = 90
	rapid.Check(t, func(r *rapid.T) {
		type task struct {
			stream, during, after []int64
			hold                  time.Duration
		}
		sizes := rapid.SliceOfN(rapid.Int64Range(1, 2*total), 0, 3)
		tasks := make([]task, rapid.IntRange(1, 12).Draw(r, "tasks"))
		for i := range tasks {
			tasks[i] = task{
				rapid.SliceOfN(rapid.Int64Range(1, 2*total), 0, 1).Draw(r, "stream"), sizes.Draw(r, "during"),
				sizes.Draw(r, "after"),
				time.Duration(rapid.IntRange(0, 5).Draw(r, "hold")) * time.Second,
			}
		}
		synctest.Test(t, func(t *testing.T) {
			pool := child.NewPool(total)
			var used, most atomic.Int64
			take := func(use child.Use, n int64) func() {
				got, release, err := pool.Take(t.Context(), use, n)
				if err != nil {
					t.Error(err)
					return func() {}
				}
				if got > n || got > pool.Largest(use) {
					t.Errorf("%d of %d", got, n)
				}
				most.Store(max(most.Load(), used.Add(got)))
				return func() { used.Add(-got); release() }
			}
			var all sync.WaitGroup
			for _, k := range tasks {
				all.Go(func() {
					for _, n := range k.stream {
						end := take(child.Stream, n)
						for _, n := range k.during {
							release := take(child.Step, n)
							time.Sleep(k.hold)
							release()
						}
						end()
					}
					for _, n := range k.after {
						release := take(child.Step, n)
						time.Sleep(k.hold)
						release()
					}
				})
			}
			all.Wait() // synctest detects a deadlock
			if most.Load() > total || pool.Most() > total {
				t.Errorf("%d of %d was in use", most.Load(), total)
			}
		})
	})
}

// TestPoolIsFair: a waiting large step is not overtaken by later small ones, and a stream is not starved by
// endless steps.
func TestPoolIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := child.NewPool(90)
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 9 { // endless steps that never leave more than one place free
			all.Go(func() {
				for ctx.Err() == nil {
					_, release, err := pool.Take(ctx, child.Step, 10)
					if err != nil {
						return
					}
					time.Sleep(time.Second)
					release()
				}
			})
		}
		time.Sleep(time.Minute)
		for use, n := range map[child.Use]int64{child.Step: 60, child.Stream: 30} {
			began := time.Now()
			_, release, err := pool.Take(ctx, use, n)
			if err != nil {
				t.Fatal(err)
			}
			release()
			if waited := time.Since(began); waited > 10*time.Second {
				t.Errorf("use %d waited for %v", use, waited)
			}
		}
		stop()
		all.Wait()
	})
}

// TestPoolWaitEnds: a waiter ends with its context, and its memory goes to the next one.
func TestPoolWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := child.NewPool(90)
		_, release, err := pool.Take(t.Context(), child.Step, 60)
		if err != nil {
			t.Fatal(err)
		}
		gone := errors.New("the task was canceled")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, _, err := pool.Take(ctx, child.Step, 60)
			ended <- err
		}()
		next := make(chan struct{})
		synctest.Wait()
		go func() {
			_, release, err := pool.Take(t.Context(), child.Step, 20)
			if err == nil {
				release()
			}
			close(next)
		}()
		synctest.Wait()
		cancel(gone)
		if err := <-ended; !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		<-next // it fits, now that nothing waits before it
		release()
		release() // the second call has no effect
		if _, _, err := pool.Take(t.Context(), child.Step, 60); err != nil {
			t.Error(err)
		}
		if pool.Most() > 90 {
			t.Errorf("%d were in use", pool.Most())
		}
	})
}

// TestMoreMemory: a program whose share is too small runs once more with the maximum of a step. One that needs
// more is reported as such, and all memory is returned in every case.
func TestMoreMemory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		end    child.End
		runs   int
	}{
		"enough":   {"exec dd if=/dev/zero of=/dev/null bs=1M count=1", child.Exited, 1},
		"more":     {"exec dd if=/dev/zero of=/dev/null bs=100M count=1", child.Exited, 2},
		"too much": {"exec dd if=/dev/zero of=/dev/null bs=900M count=1", child.MemoryLimit, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := child.NewPool(300 << 20)
			runs := 0
			r, err := pool.Run(t.Context(), func() child.Command {
				runs++
				c, _ := sh(t, tt.script)
				c.Limits.Memory = 32 << 20
				return c
			})
			if err != nil || r.End != tt.end || runs != tt.runs {
				t.Errorf("%s after %d runs (%v), want %s after %d", r.End, runs, err, tt.end, tt.runs)
			}
			if _, _, err := pool.Take(t.Context(), child.Step, pool.Largest(child.Step)); err != nil {
				t.Error(err)
			}
		})
	}
}
