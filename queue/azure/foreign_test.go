package azure_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// A proxy's page with status 200 is an error of each call, and not an empty queue.
func TestForeignAnswer(t *testing.T) {
	t.Parallel()
	q, f, _ := faulty(t)
	m := sendOne(t, q, "x")
	for _, page := range []string{"<html><body>Sign in</body></html>", "", "\n"} {
		f.do(func(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
			return &http.Response{
				StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
				Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader(page)),
			}, nil
		})
		_, received := q.Receive(t.Context(), 3, time.Minute)
		_, peeked := q.Peek(t.Context(), 3)
		_, depth := q.Depth(t.Context())
		_, sent := q.Send(t.Context(), "x", queue.SendOptions{})
		for what, err := range map[string]error{
			"receive": received, "peek": peeked, "depth": depth, "send": sent, "ensure": q.Ensure(t.Context()),
			"extend": m.Lease.Extend(t.Context(), time.Minute), "delete": m.Lease.Delete(t.Context()),
		} {
			foreign, ok := errors.AsType[*storage.ForeignError](err)
			if !ok || foreign.Status != http.StatusOK || !strings.Contains(err.Error(), "proxy") ||
				taskerr.Classify(err).Class != taskerr.TransientStorage {
				t.Errorf("%q: %s: %v", page, what, err)
			}
		}
	}
	f.heal()
	if depth, err := q.Depth(t.Context()); err != nil || depth != 1 {
		t.Errorf("%d messages, %v", depth, err)
	}
}
