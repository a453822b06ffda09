package engine

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// safely runs foreign code; a panic in it is an internal_bug of the task at hand and of nothing else.
func safely[T any](log *slog.Logger, f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			logPanic(log, p)
			err = &taskerr.Error{
				Class: taskerr.InternalBug, Message: "the worker met a bug in itself; its log has the details",
				Cause: fmt.Errorf("panic: %v", p),
			}
		}
	}()
	return f()
}

// rescue is deferred around all that is done with one message: the loop never dies of one. The message
// and its job are left to their leases, so that a begun job counts an attempt (worker_lost) and ends.
func rescue(log *slog.Logger) {
	if p := recover(); p != nil {
		logPanic(log, p)
	}
}

func logPanic(log *slog.Logger, p any) {
	log.Error("a panic: this is a bug in the worker", event.Key, event.Panic, "panic", fmt.Sprint(p), "stack",
		string(debug.Stack()))
}
