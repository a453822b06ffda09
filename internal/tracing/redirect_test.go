package tracing_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// The headers of the collector, which hold its key, stay with it.
func TestRedirect(t *testing.T) {
	collector := httpurltest.NewRedirect(t, "OTEL_EXPORTER_OTLP_ENDPOINT")
	var log bytes.Buffer
	tracer, err := tracing.Open(t.Context(), tracing.Options{
		Endpoint: collector.URL, Headers: "api-key=secret", ClientID: "acme",
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	attempt(t.Context(), tracer, sampled)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	collector.CheckText(t, log.String())
}
