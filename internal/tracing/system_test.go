package tracing_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// TestMessagingSystem: the span of an attempt names what holds the queues.
func TestMessagingSystem(t *testing.T) {
	for queues, want := range map[string]string{
		"": "azure_storage_queue", "azure": "azure_storage_queue", "nats": "nats", "postgres": "postgresql", "pgmq": "pgmq",
	} {
		t.Run(queues, func(t *testing.T) {
			systems := make(chan string, 10)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				for _, system := range attributes(t, r, "messaging.system") {
					systems <- system
				}
			}))
			defer server.Close()
			tracer := open(t, tracing.Options{Endpoint: server.URL, Queues: queues})
			attempt(t.Context(), tracer, "")
			if err := tracer.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			close(systems)
			if got := <-systems; got != want || len(systems) > 0 {
				t.Errorf("messaging.system is %q, and %d more spans have one; want %q of the attempt's", got, len(systems), want)
			}
		})
	}
}

// attributes are the values of an attribute in the spans of a request.
func attributes(t *testing.T, r *http.Request, key string) (values []string) {
	t.Helper()
	var sent tracepb.TracesData
	if body, err := io.ReadAll(r.Body); err != nil || proto.Unmarshal(body, &sent) != nil {
		t.Error("the request can't be read")
	}
	for _, of := range sent.GetResourceSpans() {
		for _, s := range of.GetScopeSpans() {
			for _, span := range s.GetSpans() {
				for _, a := range span.GetAttributes() {
					if a.GetKey() == key {
						values = append(values, a.GetValue().GetStringValue())
					}
				}
			}
		}
	}
	return values
}
