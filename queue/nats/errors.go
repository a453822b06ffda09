package nats

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Denied reports that the server refused the credentials, or the right to a subject.
type Denied struct {
	Doing string
	Cause error
	// Subject is the subject that the credentials do not allow; empty: they are refused as a whole.
	Subject string
}

func (e *Denied) Error() string {
	if e.Subject != "" {
		return fmt.Sprintf("%s: NATS denies the credentials %s; allow it in the server's permissions", e.Doing, e.Subject)
	}
	return fmt.Sprintf("%s: NATS refuses the login (%v); check NATS_URL, or NATS_CREDS", e.Doing, e.Cause)
}

// Unwrap makes it a queue.ErrDenied, or queue.ErrLogin.
func (e *Denied) Unwrap() []error {
	if e.Subject == "" {
		return []error{queue.ErrLogin, e.Cause}
	}
	return []error{queue.ErrDenied, e.Cause}
}

// Misconfigured reports that a stream or consumer exists, but can't be used as this queue.
type Misconfigured struct{ Doing, Problem, Remedy string }

func (e *Misconfigured) Error() string { return e.Doing + ": " + e.Problem + "; " + e.Remedy }

// Unwrap makes it a queue.ErrSetting.
func (e *Misconfigured) Unwrap() error { return queue.ErrSetting }

// hint is what to do when the server does not answer.
const hint = "is the NATS server up and reachable? check NATS_URL"

// unanswered reports whether a request may have been carried out.
func unanswered(err error) bool {
	for _, e := range []error{
		nats.ErrTimeout, context.DeadlineExceeded, nats.ErrConnectionClosed, nats.ErrConnectionReconnecting,
		nats.ErrReconnectBufExceeded, nats.ErrDisconnected, nats.ErrNoServers, nats.ErrStaleConnection,
		jetstream.ErrNoHeartbeat, jetstream.ErrServerShutdown, jetstream.ErrConnectionClosed,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case unanswered(err):
		return "uncertain"
	}
	return "refused"
}

// explain turns the client's error into a sentinel or into an error with a remedy.
func (q *natsQueue) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	doing += fmt.Sprintf(" queue %q", q.name)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	if errors.Is(err, nats.ErrConnectionClosed) { // what was found by that connection is of no use to the next
		q.forget()
	}
	for _, absent := range []error{
		jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDoesNotExist,
		jetstream.ErrConsumerDeleted, jetstream.ErrNoStreamResponse, nats.ErrNoResponders,
	} {
		if errors.Is(err, absent) {
			q.forget()
			return fmt.Errorf("%s: %w", doing, queue.ErrNotFound)
		}
	}
	refused, _ := errors.AsType[*jetstream.APIError](err)
	if errors.Is(err, nats.ErrMaxPayload) || refused != nil && refused.ErrorCode == tooLarge {
		return fmt.Errorf("%s: %w", doing, queue.ErrTooLarge)
	}
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return &Misconfigured{doing, "the server or the account has no JetStream", "enable jetstream in its configuration"}
	}
	if errors.Is(err, jetstream.ErrNotPullConsumer) {
		return &Misconfigured{
			doing, fmt.Sprintf("the consumer %s pushes messages", q.durable), "delete it; the worker creates one to pull from",
		}
	}
	if refused != nil {
		if why := refusalOf(refused); why != nil {
			return why.of(doing, err)
		}
	}
	if denied := q.denied(); denied != "" {
		return &Denied{Doing: doing, Subject: denied, Cause: err}
	}
	if known, ok := errors.AsType[*Misconfigured](err); ok {
		return known
	}
	if failed, ok := errors.AsType[*connectError](err); ok {
		return q.login.explain(doing, failed.err)
	}
	if failed := q.failure(); failed != nil {
		return q.login.explain(doing, failed)
	}
	if !unanswered(err) {
		return &taskerr.Error{
			Class: taskerr.TransientStorage, Dependency: taskerr.Queues, Cause: err,
			Message: fmt.Sprintf("%s: NATS refused it (%v)", doing, err), Hint: "the log of the NATS server says more",
		}
	}
	return &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Queues, Message: doing + ": NATS did not answer", Cause: err,
		Hint: hint,
	}
}
