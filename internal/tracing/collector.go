package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/tracing/headers"
)

// collector sends spans by OTLP over HTTP, in protobuf (https://opentelemetry.io/docs/specs/otlp/#otlphttp). The
// official client (otlptracehttp) pulls in gRPC: 11 MB of program and 6 MB of memory in an idle worker, instead of 4
// and 2.
type collector struct {
	endpoint string
	headers  http.Header
	client   *http.Client
	log      *slog.Logger
	failing  atomic.Bool // the last request failed; the failure has been logged
}

// exportTime bounds one batch; OTEL_BSP_EXPORT_TIMEOUT may be longer.
const exportTime = 10 * time.Second

var exportPolicy = retry.Policy{Backoff: retry.Backoff{First: 500 * time.Millisecond, Max: time.Second}, Tries: 3}

func newCollector(o Options) (*collector, error) {
	base, err := httpurl.Parse(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is not a URL such as http://localhost:4318")
	}
	sent, _, err := headers.Parse(o.Headers) // the settings warn of what is unusable
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	c := &collector{
		endpoint: base.JoinPath("v1", "traces").String(), headers: sent, log: o.Log,
		client: &http.Client{Transport: httpurl.SameOrigin(httpurl.Transport(), "OTEL_EXPORTER_OTLP_ENDPOINT")},
	}
	return c, nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends a batch, with retries if the collector allows. Spans that it rejects are dropped: that is logged
// once, and never an error of the worker.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, exportTime)
	defer cancel()
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // as ExportTraceServiceRequest is on the wire
	if err == nil {
		err = c.send(ctx, body)
	}
	switch {
	case err != nil && !c.failing.Swap(true):
		c.log.Warn("can't send spans to OTEL_EXPORTER_OTLP_ENDPOINT; they are dropped for now", "error", err)
	case err == nil && c.failing.Swap(false):
		c.log.Info("spans are sent again")
	}
	return nil
}

func (c *collector) send(ctx context.Context, body []byte) error {
	again := false
	p := exportPolicy
	p.Retryable = func(error) bool { return again }
	_, err := retry.Do(ctx, p, func() (_ struct{}, err error) {
		again, err = c.post(ctx, body)
		return struct{}{}, err
	})
	return err
}

// post sends one request; again reports whether a retry may succeed.
func (c *collector) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := c.client.Do(r)
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return false, redirect
	}
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // to reuse the connection
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	if answer.StatusCode/100 != 2 {
		return again, fmt.Errorf("the collector answered %d", answer.StatusCode)
	}
	return false, nil
}
