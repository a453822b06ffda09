package azure

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/queue"
)

// attempts bounds how often one request is sent; the engine's own backoff does the long waiting.
const attempts = 3

// operation is one kind of request.
type operation struct {
	name       string
	idempotent bool // doing it twice is the same as once, so it is tried again even when uncertain
}

var (
	opReceive = operation{name: "receive"}
	opSend    = operation{name: "send"}
	opExtend  = operation{name: "extend"}
	opRelease = operation{name: "release"}
	opDelete  = operation{name: "delete", idempotent: true}
	opPeek    = operation{name: "peek", idempotent: true}
	opDepth   = operation{name: "depth", idempotent: true}
	opEnsure  = operation{name: "ensure", idempotent: true}
)

// fate is what a request's error says about whether it was carried out.
type fate string

const (
	done      fate = "ok"
	refused   fate = "refused"   // not done, and another try would end the same
	throttled fate = "throttled" // not done; later it may be
	uncertain fate = "uncertain" // done or not
)

// fateOf reads the fate from an error of the SDK.
func fateOf(err error) fate {
	if err == nil {
		return done
	}
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		switch answer.StatusCode {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return throttled
		case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusGatewayTimeout:
			return uncertain // e.g. OperationTimedOut: the service itself doesn't say
		}
		return refused
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return throttled // no connection: the request never left
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return refused
		}
		return throttled
	}
	return uncertain
}

// retries is how a request is sent again: 0.1 to 0.2 s after the first failure and twice that after the second.
var retries = retry.Policy{
	Backoff: retry.Backoff{First: 150 * time.Millisecond, Max: time.Second, Jitter: 1. / 3}, Tries: attempts,
}

// try sends a request until it is done or mustn't be sent again, at most attempts times. Each one has
// the service's timeout. The last error is the SDK's own.
func (s *service) try(ctx context.Context, op operation, request func(context.Context) error) error {
	p := retries
	p.Retryable = func(err error) bool {
		f := fateOf(err)
		return f == throttled || f == uncertain && op.idempotent
	}
	_, err := retry.Do(ctx, p, func() (struct{}, error) {
		bounded, cancel := context.WithTimeoutCause(ctx, s.timeout,
			fmt.Errorf("no answer within %s: %w", s.timeout, context.DeadlineExceeded))
		defer cancel()
		err := request(bounded)
		s.onRequest(op.name, string(fateOf(err)))
		return struct{}{}, err
	})
	return err
}

// explain turns the SDK's error into a sentinel or into one that says what to mend.
func (q *azureQueue) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	doing += fmt.Sprintf(" queue %q", q.name)
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		switch answer.ErrorCode {
		case "QueueNotFound", "ResourceNotFound":
			return fmt.Errorf("%s: %w", doing, queue.ErrNotFound)
		case "MessageTooLarge", "RequestBodyTooLarge":
			return fmt.Errorf("%s: %w", doing, queue.ErrTooLarge)
		}
	}
	return q.creds.Explain(storage.Queue, doing, err)
}
