package http

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/seed-7227ef26/async-worker/internal/events"
)

// mode is the form of a request: its content type.
type mode string

const (
	batched    mode = "application/cloudevents-batch+json" // an array of events
	structured mode = "application/cloudevents+json"       // one event
)

// deliver sends a batch, or its first event alone to a sink that wants single ones, and returns how many events that was.
func (s *Sink) deliver(ctx context.Context, batch []events.Event) (n int, err error) {
	if s.single {
		err = s.post(ctx, structured, batch[0].Body)
		s.single = !unsupported(err) // else it has changed, and is asked anew
		return 1, err
	}
	err = s.post(ctx, batched, body(batch))
	status, answered := errors.AsType[*statusError](err)
	switch {
	case err == nil:
		s.batches, s.unclear = true, nil
	case !answered, s.unclear != nil: // nothing is sent alone past an event that may have to be sent again
	case unsupported(err):
		err = s.post(ctx, structured, batch[0].Body)
		s.single = !unsupported(err)
		return 1, err
	case len(batch) == 1 && (status.code == http.StatusBadRequest || status.code == http.StatusUnprocessableEntity):
		return 1, s.alone(ctx, batch[0], err)
	}
	return len(batch), err
}

// alone sends an event by itself that was refused in a batch of one: because of what is in it, or because the sink takes no
// batches, which shows when it takes it now. While that can't be known the event must not count as refused: it does when
// the sink takes a batch of those that follow.
func (s *Sink) alone(ctx context.Context, e events.Event, refused error) error {
	err := s.post(ctx, structured, e.Body)
	if err == nil {
		s.single = true
		return nil
	}
	status, answered := errors.AsType[*statusError](err)
	if answered && (status.aboutEvents() || unsupported(err)) || s.takesBatches(ctx) {
		return refused
	}
	if _, wait := errors.AsType[*events.WaitError](err); wait || !answered {
		return err
	}
	s.unclear = err
	return refused
}

// takesBatches reports whether the sink has taken a batch, or takes an empty one.
func (s *Sink) takesBatches(ctx context.Context) bool {
	s.batches = s.batches || s.post(ctx, batched, []byte("[]")) == nil
	return s.batches
}

// unsupported reports whether a sink does not take the form of a request.
func unsupported(err error) bool {
	status, answered := errors.AsType[*statusError](err)
	return answered && status.code == http.StatusUnsupportedMediaType
}

// body is a batch in the JSON Batch Format.
func body(batch []events.Event) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, e := range batch {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e.Body)
	}
	b.WriteByte(']')
	return b.Bytes()
}
