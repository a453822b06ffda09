package events

import (
	"context"
	"errors"
	"time"
)

// Sink sends events to where others read them. Only one goroutine calls Send at a time.
type Sink interface {
	// Send sends events, those of one job in their order. The answer says which of them, from the first on, need not be
	// sent again; without an error these are all. An error may pass; a *WaitError says when.
	Send(ctx context.Context, events []Event) (Sent, error)
	// Probe checks that events could be sent, and sends none.
	Probe(ctx context.Context) error
	// Close closes the connections.
	Close()
}

// Sent is what became of events.
type Sent struct {
	Done    int       // the first Done events are settled: taken, or refused for good
	Refused []Refusal // of those Done
	Reduced int       // of those Done, those that were sent without their results because they were too large
}

// Refusal is an event that a sink will never take.
type Refusal struct {
	Event Event
	Cause error
}

// WaitError is an error of a sink that asks for a wait.
type WaitError struct {
	After time.Duration
	Cause error
}

func (e *WaitError) Error() string { return e.Cause.Error() }
func (e *WaitError) Unwrap() error { return e.Cause }

// after is how long the sink asks to wait.
func after(err error) time.Duration {
	if w, ok := errors.AsType[*WaitError](err); ok {
		return w.After
	}
	return 0
}
