package openai

import (
	"context"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

// Retries within one call are for brief faults; the engine waits out longer ones.
const (
	maxTries    = 4                // three attempts of a text that makes the service fail cost twelve requests
	limitTries  = 8                // for 429
	retryBudget = 20 * time.Second // for requests and waits together
)

// waits have full jitter: up to 0.5 s, 1 s … 8 s.
var waits = retry.Backoff{First: 250 * time.Millisecond, Max: 4 * time.Second, Jitter: 1}

// service is a model of a service with what its users share: limits, failures, and the names of the settings in errors.
type service struct {
	client  *api.Client
	model   string
	timeout time.Duration // of one request
	limiter *Limiter
	urgency Urgency
	names   settings
}

// persist makes a request, with brief retries: exponential backoff with full jitter, or the wait that the service
// demands. try returns how long it took, without the wait for the limiter.
func (s *service) persist(ctx context.Context, try func() (time.Duration, *failure)) *failure {
	var spent time.Duration
	next := waits.Waits().Next
	for n := 1; ; {
		took, failure := try()
		if failure != nil && failure.adapted && ctx.Err() == nil { // each takes something away, so they come to an end
			continue
		}
		if failure == nil || !failure.passing || ctx.Err() != nil || n >= failure.tries() {
			return failure
		}
		wait := max(next(), failure.err.RetryAfter)
		if spent += took + wait; spent > retryBudget && !(failure.broken && n == 1) {
			return failure
		}
		over := retry.Waiting(ctx)
		err := s.limiter.sleep(ctx, wait)
		over()
		if err != nil {
			return failure
		}
		n++
	}
}

// once makes one request of about this many tokens, when the limiter permits. The timeout of a stream is between two
// pieces. send's error is the library's, or a *failure.
func (s *service) once(
	ctx context.Context, u Urgency, tokens int, stream bool, send func(context.Context) error,
) (took time.Duration, f *failure) {
	permit, err := s.limiter.Acquire(ctx, u, s.model, tokens)
	if err != nil {
		return 0, s.classify(ctx, err, nil)
	}
	defer permit.Release()
	request, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.timeout, func() { cancel(errTimeout) })
	defer timer.Stop()
	request, record := withRecord(request)
	record.begun, record.stream = permit.Observe, stream
	if stream {
		record.alive = func() { timer.Reset(s.timeout) }
	}

	start := s.limiter.now()
	err = send(request)
	took = s.limiter.now().Sub(start)
	if err != nil {
		return took, s.classify(request, err, record)
	}
	return took, nil
}
