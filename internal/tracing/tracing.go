// Package tracing makes OpenTelemetry spans of tasks: one for each attempt, and below it one for each stage and each
// call to a service. Without a collector (OTEL_EXPORTER_OTLP_ENDPOINT) there is no overhead: every function accepts a
// nil Tracer or a context without a span. Spans never hold text of a document, a secret, or a URL's path or query.
package tracing

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	scope = "github.com/seed-7227ef26/async-worker"
	// flushTime bounds how long the worker's exit waits for the collector.
	flushTime = 5 * time.Second
)

// Options are where spans are sent, and the worker that makes them.
type Options struct {
	Endpoint string // of a collector that speaks OTLP over HTTP, without /v1/traces; empty: no spans are made
	Headers  string // of each request, "name=value,…", values percent-encoded; may be empty
	ClientID string
	Version  string // of this program
	Worker   string // unique to this process
	Queues   string // what holds the queues: azure, nats, postgres or pgmq; empty: azure
	Log      *slog.Logger
}

// Tracer makes the spans of one worker. A nil Tracer makes none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	client   string
	system   string // of the queues; see messagingSystem
}

// Open returns a Tracer that sends in the background: a collector that is slow or down does not delay a task; spans
// that it does not accept are dropped. Without an endpoint the Tracer is nil. The SDK's own variables
// (OTEL_TRACES_SAMPLER, OTEL_BSP_…, OTEL_RESOURCE_ATTRIBUTES) apply.
func Open(ctx context.Context, o Options) (*Tracer, error) {
	if o.Endpoint == "" {
		return nil, nil //nolint:nilnil // a nil Tracer makes no spans
	}
	collector, err := newCollector(o)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, collector)
	if err != nil {
		return nil, fmt.Errorf("open the exporter of spans: %w", err)
	}
	who, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "async-worker"), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", o.Worker), attribute.String("async_worker.client_id", o.ClientID),
	), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(who), sdk.WithIDGenerator(ids{}))
	return &Tracer{
		provider: provider, tracer: provider.Tracer(scope), client: o.ClientID, system: messagingSystem(o.Queues),
	}, nil
}

// Close sends the remaining spans, for flushTime at most.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// TraceID returns a task's trace: its sender's, or one derived from the task's id, so that all attempts and webhooks
// share it. Empty: the sender named none, and t is nil.
func (t *Tracer) TraceID(traceparent, taskID string) string {
	if sender := remote(traceparent); sender.IsValid() {
		return sender.TraceID().String()
	}
	if t == nil || taskID == "" {
		return ""
	}
	return t.ownTrace(taskID).String()
}

// ownTrace returns the trace of a task without a trace of its sender.
func (t *Tracer) ownTrace(taskID string) (id trace.TraceID) {
	sum := sha256.Sum256([]byte("async-worker/" + t.client + "/" + taskID))
	copy(id[:], sum[:])
	return id
}

// within returns a context whose next span is in a task's trace, as a child of the sender's span if there is one.
func (t *Tracer) within(ctx context.Context, traceparent, taskID string) context.Context {
	if sender := remote(traceparent); sender.IsValid() {
		return trace.ContextWithRemoteSpanContext(ctx, sender)
	}
	return context.WithValue(ctx, rootKey{}, t.ownTrace(taskID))
}

// remote parses a W3C traceparent.
func remote(traceparent string) trace.SpanContext {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent})
	return trace.SpanContextFromContext(ctx)
}

// traceparent formats a W3C traceparent.
func traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

type rootKey struct{}

// ids gives a root span the trace of its context.
type ids struct{}

// NewIDs implements sdk.IDGenerator.
func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, named := ctx.Value(rootKey{}).(trace.TraceID)
	if !named {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64()|1) // never zero
	}
	return id, ids{}.NewSpanID(ctx, id)
}

// NewSpanID implements sdk.IDGenerator.
func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	binary.NativeEndian.PutUint64(id[:], rand.Uint64()|1)
	return id
}
