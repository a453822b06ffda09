package app

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A worker rests once after its start and once after each period of work, never during one, and rest wakes nothing
// while the worker is idle.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r, rested := newRest(engine.NopObserver{}), make(chan time.Time, 100)
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx, func() { rested <- time.Now() }, func() { t.Error("no task ran at the end of the start") })
		}()
		rests := 0
		var at time.Time
		expect := func(want int, why string) {
			t.Helper()
			synctest.Wait()
			for len(rested) > 0 {
				rests, at = rests+1, <-rested
			}
			if rests != want {
				t.Fatalf("%s: %d rests, want %d", why, rests, want)
			}
		}
		begin := func() { r.Started(task.Ingest, 1) }
		end := func() { r.Ended(task.Ingest, engine.Ending{}) }
		time.Sleep(restAfterStart)
		expect(1, "after the start")
		time.Sleep(24 * time.Hour)
		expect(1, "a day without a task")

		begin()
		time.Sleep(time.Hour)
		begin()
		end()
		time.Sleep(time.Hour)
		expect(1, "one of two tasks runs")
		end()
		ended := time.Now()
		time.Sleep(restAfterTasks / 2)
		begin() // work goes on
		time.Sleep(restAfterTasks)
		expect(1, "the next task runs")
		end()
		time.Sleep(restAfterTasks - time.Second)
		expect(1, "work may go on")
		time.Sleep(time.Hour)
		expect(2, "after the work")
		if got := at.Sub(ended); got != restAfterTasks/2+2*restAfterTasks {
			t.Errorf("rested %v after the first task", got)
		}
		stop()
		<-done
	})
}

// A worker that starts with tasks is told at the end of its start, once, and rests after them.
func TestBusyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r, idle, busy := newRest(engine.NopObserver{}), 0, 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.run(ctx, func() { idle++ }, func() { busy++ })
		}()
		r.Started(task.Ingest, 1)
		time.Sleep(restAfterStart)
		synctest.Wait()
		if idle != 0 || busy != 1 {
			t.Errorf("at the end of the start: %d rests, busy %d times", idle, busy)
		}
		r.Ended(task.Ingest, engine.Ending{})
		r.Started(task.Ingest, 1)
		time.Sleep(restAfterTasks + time.Second) // not at the moment at which the task ends
		r.Ended(task.Ingest, engine.Ending{})
		time.Sleep(restAfterTasks + time.Second)
		stop()
		<-done
		if idle != 1 || busy != 1 {
			t.Errorf("in the end: %d rests, busy %d times", idle, busy)
		}
	})
}

// The memory of a load is released: the heap and the code that it used.
func TestRestReleasesMemory(t *testing.T) {
	const load = 64 << 20
	ballast := make([]byte, load)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	loaded := resident(t, "VmRSS:")
	if ballast[4096] != 1 {
		t.Fatal("the load was not allocated")
	}
	r := newRest(engine.NopObserver{})
	ctx, stop := context.WithCancel(t.Context())
	r.timer.Reset(0)
	r.run(ctx, func() {
		if err := trim(); err != nil {
			t.Error(err)
		}
		stop()
	}, func() { t.Error("no task runs") })
	rested := resident(t, "VmRSS:")
	t.Logf("%d MB after the load, %d at rest", loaded>>10, rested>>10)
	if gone := loaded - rested; gone < load>>10*9/10 {
		t.Errorf("%d kB of %d were released", gone, load>>10)
	}
}

// resident reads a number of kB of proc_pid_status(5).
func resident(t *testing.T, field string) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field); ok {
			kB, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kB
		}
	}
	t.Skipf("this kernel does not report %s", field)
	return 0
}
