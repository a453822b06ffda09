package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Work is what an attempt's span tells of it. The names are OpenTelemetry's conventions for messaging spans; those of
// ours begin with async_worker.
type Work struct {
	TaskID, TaskType string
	TraceParent      string // of the sender; empty: there is none
	Queue            string
	MessageID        string // of the queue's message
	Attempt          int
}

// Attempt is the span of one attempt, or nil.
type Attempt struct {
	span trace.Span

	mu    sync.Mutex
	stage trace.Span // of the stage that the work is in; nil: of none
}

type attemptKey struct{}

// Attempt begins a span for one attempt at a task. It is a child of the sender's span, so that what was sent and what
// was done are one trace, and linked to it as well, which is what the conventions ask of a consumer
// (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans: a link is required, a parent optional for a
// message that is processed alone).
func (t *Tracer) Attempt(ctx context.Context, w Work) (context.Context, *Attempt) {
	if t == nil {
		return ctx, nil
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("messaging.system", "azure_storage_queue"),
		attribute.String("messaging.operation.name", "process"),
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.destination.name", w.Queue),
		attribute.String("messaging.message.id", w.MessageID), attribute.String("async_worker.task.id", w.TaskID),
		attribute.String("async_worker.task.type", w.TaskType), attribute.Int("async_worker.attempt", w.Attempt),
	)}
	if sender := remote(w.TraceParent); sender.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: sender}))
	}
	ctx, span := t.tracer.Start(t.within(ctx, w.TraceParent, w.TaskID), "process "+w.Queue, options...)
	a := &Attempt{span: span}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// Stage ends the span of the stage before, and begins that of the next.
func (a *Attempt) Stage(ctx context.Context, name string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leave()
	_, a.stage = a.span.TracerProvider().Tracer(scope).Start(trace.ContextWithSpan(ctx, a.span), "stage "+name,
		trace.WithAttributes(attribute.String("async_worker.stage", name)))
}

// leave ends the span of the stage; mu is held.
func (a *Attempt) leave() {
	if a.stage != nil {
		a.stage.End()
		a.stage = nil
	}
}

// Worked ends the last stage: what follows settles the attempt.
func (a *Attempt) Worked() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leave()
}

// End ends the attempt's span. class is that of its error; empty: there was none.
func (a *Attempt) End(outcome, class string) {
	if a == nil {
		return
	}
	a.Worked()
	a.span.SetAttributes(attribute.String("async_worker.outcome", outcome))
	if class != "" {
		a.span.SetAttributes(attribute.String("error.type", class))
		a.span.SetStatus(codes.Error, class)
	}
	a.span.End()
}

// parent is the span beneath which a call is made: that of the stage, where the context bears that of the attempt.
func parent(ctx context.Context) trace.Span {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return span
	}
	if a, ok := ctx.Value(attemptKey{}).(*Attempt); ok && a.span.SpanContext().Equal(span.SpanContext()) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.stage != nil {
			return a.stage
		}
	}
	return span
}
