package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A caller waits for a call for a moment, the next one of a queue that is slow does not; more calls than there is room
// for are not made; and one that is quick has callers wait again.
func TestQueueCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		base, end := context.WithCancel(t.Context())
		q := newQueueCalls(base, 2, time.Second)
		var ends []error
		waited := func(limit, takes time.Duration) (time.Duration, bool) {
			begin := time.Now()
			made := q.do(t.Context(), limit, func(ctx context.Context) {
				select {
				case <-ctx.Done():
					ends = append(ends, ctx.Err())
				case <-time.After(takes):
				}
			})
			return time.Since(begin), made
		}
		check := func(limit, takes, want time.Duration, made bool) {
			t.Helper()
			if got, ok := waited(limit, takes); got != want || ok != made {
				t.Errorf("waited %v, made %t; want %v, %t", got, ok, want, made)
			}
		}
		check(time.Minute, time.Millisecond, time.Millisecond, true)
		check(20*time.Second, time.Hour, time.Second, true) // given up after 20 s
		check(time.Minute, 10*time.Second, 0, true)
		check(time.Minute, time.Millisecond, 0, false) // no room
		time.Sleep(10 * time.Second)
		synctest.Wait()
		check(time.Minute, time.Millisecond, 0, true) // it is quick
		time.Sleep(time.Millisecond)
		synctest.Wait()
		check(time.Minute, 500*time.Millisecond, 500*time.Millisecond, true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if len(ends) != 1 || !errors.Is(ends[0], context.DeadlineExceeded) {
			t.Errorf("the calls ended with %v", ends)
		}
		check(time.Minute, time.Hour, 0, true)
		end()
		q.end()
		if len(ends) != 2 || !errors.Is(ends[1], context.Canceled) {
			t.Errorf("at the end the calls ended with %v", ends)
		}
	})
}
