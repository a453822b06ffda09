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

// attempts is how often one request is sent at most; the engine's own backoff does the long waits.
const attempts = 3

// operation is one kind of request.
type operation struct {
	name       string
	idempotent bool // it may be retried even when uncertain
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

// fate is whether a failed request was carried out.
type fate string

const (
	done      fate = "ok"
	refused   fate = "refused"   // not done, and a retry would fail again
	throttled fate = "throttled" // not done; a later retry may succeed
	uncertain fate = "uncertain" // may have been done
)

// fateOf returns the fate of a request with an error of the SDK.
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
			return uncertain // e.g. OperationTimedOut: the service doesn't know
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

// retries are the waits of try: 0.1 to 0.2 s after the first failure and twice that after the second.
var retries = retry.Policy{
	Backoff: retry.Backoff{First: 150 * time.Millisecond, Max: time.Second, Jitter: 1. / 3}, Tries: attempts,
}

// try sends a request until it is done or must not be retried, at most attempts times, each with the service's timeout.
// The error is the SDK's.
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

// explain turns the SDK's error into a sentinel or into an error with a remedy.
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
