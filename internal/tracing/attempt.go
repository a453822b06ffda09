package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Work describes the attempt that a span is for. Attributes follow OpenTelemetry's conventions for messaging spans; our
// own begin with async_worker.
type Work struct {
	TaskID, TaskType string
	TraceParent      string // of the sender; empty: there is none
	Queue            string
	MessageID        string // of the queue's message
	Attempt          int
}

// Attempt is the span of one attempt; it may be nil.
type Attempt struct {
	span trace.Span

	mu    sync.Mutex
	stage trace.Span // of the current stage; nil: none
}

type attemptKey struct{}

// Attempt begins the span of an attempt at a task. It is a child of the sender's span, so that sending and work are one
// trace, and also linked to it, as the conventions demand of a consumer
// (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans: a link is required, a parent optional for a
// message that is processed alone).
func (t *Tracer) Attempt(ctx context.Context, w Work) (context.Context, *Attempt) {
	if t == nil {
		return ctx, nil
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("messaging.system", t.system),
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

// messagingSystem is the name of what holds the queues. The conventions have a name for none of them; Postgres has one
// among the databases (https://opentelemetry.io/docs/specs/semconv/registry/attributes/db: db.system.name).
func messagingSystem(queues string) string {
	switch queues {
	case "", "azure":
		return "azure_storage_queue"
	case "postgres":
		return "postgresql"
	}
	return queues
}

// Stage ends the span of the previous stage and begins the next.
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

// leave ends the span of the stage. The caller holds mu.
func (a *Attempt) leave() {
	if a.stage != nil {
		a.stage.End()
		a.stage = nil
	}
}

// Worked ends the last stage: the settlement of the attempt follows.
func (a *Attempt) Worked() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leave()
}

// End ends the attempt's span. class is the class of its error; empty: success.
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

// parent returns the parent of a call's span: the stage's span if the context has an attempt.
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
