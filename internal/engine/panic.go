package engine

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// safely runs a handler's code. A panic becomes an internal_bug of that task alone.
func safely[T any](log *slog.Logger, f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			logPanic(log, p)
			err = &taskerr.Error{
				Class:   taskerr.InternalBug,
				Message: "internal error (a bug in the worker); please report it with the stack in the worker's log",
				Cause:   fmt.Errorf("panic: %v", p),
			}
		}
	}()
	return f()
}

// rescue is deferred around the processing of one message, so that the poll loop survives a panic. The message and its
// job are left to their leases: a begun job counts an attempt (worker_lost) and ends.
func rescue(log *slog.Logger) {
	if p := recover(); p != nil {
		logPanic(log, p)
	}
}

func logPanic(log *slog.Logger, p any) {
	log.Error("panic: a bug in the worker; please report it", event.Key, event.Panic, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
}
