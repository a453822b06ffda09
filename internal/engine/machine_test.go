package engine_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// lacking are errors of a machine that lacks something, as tasks return them.
var lacking = map[string]error{
	"full disk": fmt.Errorf("keep the document: %w", &os.PathError{Op: "write", Path: "/var/cache/x", Err: syscall.ENOSPC}),
	"temporary file": taskerr.Errorf(taskerr.TransientStorage, "the worker can't write its temporary file: %w",
		&os.PathError{Op: "open", Path: "/var/cache/x", Err: syscall.EMFILE}),
	"no socket": &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Storage, Message: "no answer",
		Cause: &os.SyscallError{Syscall: "socket", Err: syscall.EMFILE},
	},
	"no name of a service": &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Gateway, Message: "no answer", Hint: "is it running?",
		Cause: &net.DNSError{Err: "dial udp 127.0.0.53:53: socket: too many open files", Name: "gateway.test"},
	},
}

// What a machine lacks for hours costs no attempt: the tasks wait, the worker says what to do, and goes on when it has it.
func TestMachineThatLacksSomethingCostsNoAttempt(t *testing.T) {
	for name, failure := range lacking {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				var full atomic.Bool
				full.Store(true)
				w.probes = engine.Probes{
					taskerr.Storage: func(context.Context) error { return nil },
					taskerr.Machine: func(context.Context) error {
						if full.Load() {
							return syscall.ENOSPC
						}
						return nil
					},
				}
				var runs atomic.Int64
				w.startWith(needing(taskerr.Storage, func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					if runs.Add(1); full.Load() {
						return handlers.Outcome{}, failure
					}
					return done(ctx, c)
				}))
				for i := range 3 {
					w.send(w.queues.Normal, message(fmt.Sprint("t", i), ""))
				}
				w.settled(2 * time.Hour)
				if n := runs.Load(); n > 4 {
					t.Errorf("%d runs while the machine lacks something", n)
				}
				found := false
				for _, d := range w.engine.Health().Dependencies {
					if d.Name == taskerr.Machine {
						found = d.State == "open" && d.Trouble != nil && d.Trouble.Hint == taskerr.Remedy(failure)
					}
				}
				if !found {
					t.Errorf("the health says %+v", w.engine.Health().Dependencies)
				}
				w.expectLog("level=WARN", "circuit breaker", "dependency=machine", "error_class=transient_storage", "hint=")
				full.Store(false)
				w.settled(time.Minute)
				for i := range 3 {
					w.expectState(fmt.Sprint("t", i), job.Succeeded, 1)
				}
			})
		})
	}
}

// A task that takes all of the disk by itself, each time, ends: the machine has room again when it has failed (I11).
func TestTaskThatFillsTheDiskEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		var s service
		w.probes = engine.Probes{taskerr.Machine: func(context.Context) error { return nil }}
		w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
			if _ = s.use(c.Task.ID, 2*time.Second); poisonous(c.Task.ID) {
				return handlers.Outcome{}, lacking["full disk"]
			}
			return done(ctx, c)
		})
		w.send(w.queues.Normal, message("poison0", ""))
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Hour)
		w.expectPoisoned(&s, 1, 3+2)
		w.expectState("t1", job.Succeeded, 1)
		if text := w.logs.String(); strings.Contains(text, "circuit breaker") {
			t.Error("other tasks waited for it")
		}
	})
}
