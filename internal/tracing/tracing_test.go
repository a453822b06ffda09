package tracing_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const sampled, unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

// receiver counts requests and spans; it responds with the status that status returns.
func receiver(t *testing.T, status func() int) (url string, requests, spans *atomic.Int64) {
	t.Helper()
	requests, spans = new(atomic.Int64), new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		var sent tracepb.TracesData
		if body, err := io.ReadAll(r.Body); err != nil || proto.Unmarshal(body, &sent) != nil {
			t.Error("the request can't be read")
		}
		code := status()
		if code/100 == 2 {
			for _, of := range sent.GetResourceSpans() {
				for _, s := range of.GetScopeSpans() {
					spans.Add(int64(len(s.GetSpans())))
				}
			}
		}
		w.WriteHeader(code)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests, spans
}

func open(t *testing.T, o tracing.Options) *tracing.Tracer {
	t.Helper()
	o.ClientID, o.Log = "acme", slog.New(slog.DiscardHandler)
	tracer, err := tracing.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// attempt makes the spans of one attempt: its own, a stage's and a call's.
func attempt(ctx context.Context, tracer *tracing.Tracer, traceparent string) {
	ctx, a := tracer.Attempt(ctx, tracing.Work{
		TaskID: "t1", TaskType: "test", TraceParent: traceparent, Queue: "q", Attempt: 1,
	})
	a.Stage(ctx, "first")
	_, end := tracing.Call(ctx, "aw_heartbeat")
	end(nil)
	a.End("succeeded", "")
}

// A task whose sender does not sample its trace gets no spans; every other task does.
func TestSampling(t *testing.T) {
	url, _, spans := receiver(t, func() int { return http.StatusOK })
	tracer := open(t, tracing.Options{Endpoint: url})
	attempt(t.Context(), tracer, unsampled)
	attempt(t.Context(), tracer, sampled)
	attempt(t.Context(), tracer, "")
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := spans.Load(); got != 6 {
		t.Errorf("%d spans were sent, want 6", got)
	}
}

// A request that the collector rejects as temporary is retried; other rejections are not.
func TestCollectorsAnswers(t *testing.T) {
	for try := 1; ; try++ { // all of it has 5 s
		var answers atomic.Int64
		url, requests, spans := receiver(t, func() int {
			if answers.Add(1) == 1 {
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		})
		tracer := open(t, tracing.Options{Endpoint: url + "/"})
		attempt(t.Context(), tracer, sampled)
		err := tracer.Close(t.Context())
		if err == nil && requests.Load() == 2 && spans.Load() == 3 {
			break
		}
		if try == 3 {
			t.Fatalf("%d requests, %d spans, %v", requests.Load(), spans.Load(), err)
		}
	}
	url, requests, _ := receiver(t, func() int { return http.StatusForbidden })
	tracer := open(t, tracing.Options{Endpoint: url})
	attempt(t.Context(), tracer, sampled)
	if err := tracer.Close(t.Context()); err != nil || requests.Load() != 1 {
		t.Errorf("%d requests, %v", requests.Load(), err)
	}
}

func TestWrongSettings(t *testing.T) {
	for _, o := range []tracing.Options{
		{Endpoint: "nowhere"},
		{Endpoint: "http://h", Headers: "key"},
		{Endpoint: "http://h", Headers: "=x"},
	} {
		if _, err := tracing.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A task's trace is its sender's, or the same for all its attempts and different from other tasks'.
func TestTraceID(t *testing.T) {
	var off *tracing.Tracer
	url, _, _ := receiver(t, func() int { return http.StatusOK })
	on := open(t, tracing.Options{Endpoint: url})
	defer on.Close(t.Context())
	for _, tracer := range []*tracing.Tracer{off, on} {
		if got := tracer.TraceID(sampled, "t1"); got != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("got %s", got)
		}
	}
	if got := off.TraceID("", "t1"); got != "" {
		t.Errorf("without a collector: %s", got)
	}
	if a, again, b := on.TraceID("", "t1"), on.TraceID("", "t1"), on.TraceID("", "t2"); len(a) != 32 || a != again ||
		a == b {
		t.Errorf("got %s, %s and %s", a, again, b)
	}
}

// Without a collector a task makes no allocations, and the webhook passes on the sender's traceparent.
func TestOff(t *testing.T) {
	tracer := open(t, tracing.Options{})
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { attempt(ctx, tracer, sampled) }); n != 0 {
		t.Errorf("an attempt allocates %v times", n)
	}
	var sent *http.Request
	transport := tracing.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r
		return &http.Response{Body: io.NopCloser(&bytes.Buffer{})}, nil
	}), "blob")
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://h/x", nil)
	if answer, err := transport.RoundTrip(r); err != nil || sent != r {
		t.Errorf("the request was changed: %v", err)
	} else if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	tracer.Webhook(r, sampled, "t1")(200)
	if got := r.Header.Get("traceparent"); got != sampled {
		t.Errorf("the webhook has %q", got)
	}
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
