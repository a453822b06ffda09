package tracing

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Call begins the span of a call to the database's function fn; end ends it with the call's error. If ctx does not
// belong to a traced task, Call does nothing.
func Call(ctx context.Context, fn string) (inner context.Context, end func(error)) {
	above := parent(ctx)
	if !above.IsRecording() {
		return ctx, func(error) {}
	}
	inner, span := above.TracerProvider().Tracer(scope).Start(trace.ContextWithSpan(ctx, above), fn,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("db.system.name", "postgresql"),
			attribute.String("db.operation.name", "call"), attribute.String("db.stored_procedure.name", fn)))
	return inner, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Transport makes a span of each request of a traced task, from the request to the response's header. service names the
// service in one word. The span has no blob or queue names, and of the URL only the host.
func Transport(next http.RoundTripper, service string) http.RoundTripper {
	return transport{next, service}
}

type transport struct {
	next    http.RoundTripper
	service string
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	above := parent(r.Context())
	if !above.IsRecording() {
		return t.next.RoundTrip(r)
	}
	ctx, span := above.TracerProvider().Tracer(scope).Start(trace.ContextWithSpan(r.Context(), above),
		r.Method+" "+t.service,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(hostOf(r, t.service)...))
	defer span.End()
	answer, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		span.SetStatus(codes.Error, "no answer")
		return nil, err
	}
	setStatus(span, answer.StatusCode)
	return answer, nil
}

// CloseIdleConnections forwards http.Client's call.
func (t transport) CloseIdleConnections() { (&http.Client{Transport: t.next}).CloseIdleConnections() }

func hostOf(r *http.Request, service string) []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		attribute.String("http.request.method", r.Method), attribute.String("server.address", r.URL.Hostname()),
		attribute.String("url.scheme", r.URL.Scheme), attribute.String("service.peer.name", service),
	}
	if port, err := strconv.Atoi(r.URL.Port()); err == nil {
		attrs = append(attrs, attribute.Int("server.port", port))
	}
	return attrs
}

// setStatus records the status of a response; from 400 on it is an error, as in the conventions.
func setStatus(span trace.Span, status int) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusBadRequest {
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
}

// Webhook begins the span of an attempt of a webhook, in its task's trace, and sets the request's traceparent header.
// A nil Tracer passes on the sender's traceparent.
func (t *Tracer) Webhook(r *http.Request, taskTraceParent, taskID string) (end func(status int)) {
	if t == nil {
		if remote(taskTraceParent).IsValid() {
			r.Header.Set("Traceparent", taskTraceParent)
		}
		return func(int) {}
	}
	ctx, span := t.tracer.Start(t.within(r.Context(), taskTraceParent, taskID), r.Method+" webhook",
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(append(hostOf(r, "webhook"), attribute.String("async_worker.task.id", taskID))...))
	if header := traceparent(ctx); header != "" {
		r.Header.Set("Traceparent", header)
	}
	return func(status int) {
		if status == 0 {
			span.SetStatus(codes.Error, "no answer")
		} else {
			setStatus(span, status)
		}
		span.End()
	}
}
