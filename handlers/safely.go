package handlers

import (
	"fmt"
	"runtime/debug"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Safely turns a panic of f into an internal_bug, for goroutines that a handler starts: the engine recovers only panics
// of its own goroutines.
func Safely(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &taskerr.Error{
					Class: taskerr.InternalBug, Message: "internal error (a bug in the worker); please report it with the stack in the worker's log",
					Cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
				}
			}
		}()
		return f()
	}
}
