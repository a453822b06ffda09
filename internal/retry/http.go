package retry

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// HTTP says when an HTTP client sends a request again: if no answer came, or one with 429, 502, 503 or 504.
type HTTP struct {
	Policy // Tries, First and Max; the rest is decided here

	// MaxAfter is the longest Retry-After that is waited for; an answer that asks for more is the last.
	MaxAfter time.Duration
	// Prepare is called before each request that is sent again, to sign it, say; nil: nothing is done.
	Prepare func(*http.Request) error
	// Retryable says of an error without an answer whether the request may be sent again; nil: it may.
	Retryable func(error) bool
}

// Client returns a client that sends requests again by go-retryablehttp, over base. A body is read into memory first,
// so it has to be small. The last answer or error is the result, as if it had been the only one.
func (h HTTP) Client(base *http.Client) *http.Client {
	inner := *base
	if inner.Transport == nil {
		inner.Transport = http.DefaultTransport //nolint:forbidigo // clients have their own: this is for tests
	}
	connections := inner.Transport
	inner.Transport = kept{inner.Transport}
	c := &retryablehttp.Client{
		HTTPClient: &inner, RetryMax: h.Tries - 1, CheckRetry: h.check, PrepareRetry: h.Prepare,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
		Backoff: func(_, _ time.Duration, attempt int, answer *http.Response) time.Duration {
			wait := Jitter(min(h.First<<attempt, max(h.Max, h.First)), h.Jitter)
			if answer != nil {
				wait = max(wait, After(answer.Header, time.Now()))
			}
			return wait
		},
	}
	client := c.StandardClient()
	client.CheckRedirect = base.CheckRedirect // the outer client would follow what the inner one does not
	client.Transport = transport{client.Transport, connections}
	return client
}

// kept hides CloseIdleConnections: go-retryablehttp calls it whenever a request fails for good, which would close the
// connections to all other hosts as well.
type kept struct{ http.RoundTripper }

// transport is the retrying one, with the connections of the one that it uses.
type transport struct {
	http.RoundTripper
	base http.RoundTripper
}

// CloseIdleConnections implements what http.Client.CloseIdleConnections looks for.
func (t transport) CloseIdleConnections() {
	(&http.Client{Transport: t.base}).CloseIdleConnections()
}

func (h HTTP) check(ctx context.Context, answer *http.Response, err error) (bool, error) {
	return ctx.Err() == nil && h.again(answer, err), nil
}

// again reports whether a request may be sent again after an answer, or an error without one.
func (h HTTP) again(answer *http.Response, err error) bool {
	if err != nil {
		return h.Retryable == nil || h.Retryable(err)
	}
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return After(answer.Header, time.Now()) <= h.MaxAfter
	}
	return false
}
