package e2e

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// collector is an OpenTelemetry collector that keeps what it receives.
type collector struct {
	*httptest.Server

	mu    sync.Mutex
	raw   []byte
	spans []*tracepb.Span
	who   []*commonpb.KeyValue // attributes of the resource
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent tracepb.TracesData // ExportTraceServiceRequest is the same on the wire
		if err == nil {
			err = proto.Unmarshal(body, &sent)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" ||
			r.Header.Get("X-Key") != "a b" {
			t.Errorf("got %s %s with %v: %v", r.Method, r.URL, r.Header, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, body...)
		for _, of := range sent.GetResourceSpans() {
			c.who = of.GetResource().GetAttributes()
			for _, s := range of.GetScopeSpans() {
				c.spans = append(c.spans, s.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func attributeOf(all []*commonpb.KeyValue, name string) string {
	for _, kv := range all {
		if kv.GetKey() == name {
			return kv.GetValue().GetStringValue()
		}
	}
	return ""
}

// paths are all spans of a trace as "root > child > grandchild", sorted, each once.
func (c *collector) paths(trace string) (paths []string) {
	named := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		named[string(s.GetSpanId())] = s
	}
	for _, s := range c.spans {
		path := s.GetName()
		for above := named[string(s.GetParentSpanId())]; above != nil; above = named[string(above.GetParentSpanId())] {
			path = above.GetName() + " > " + path
		}
		if hex.EncodeToString(s.GetTraceId()) == trace {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// have reports whether a trace has all of these paths.
func (c *collector) have(trace string, want ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	paths := c.paths(trace)
	return !slices.ContainsFunc(want, func(path string) bool { return !slices.Contains(paths, path) })
}

// TestTrace: an ingest is a span in the trace of its sender, with its stages and their calls below; the webhook is
// in the trace, too, and carries it to its receiver. No text of the document, its name or a key is in it.
func TestTrace(t *testing.T) {
	t.Parallel()
	const trace, sender = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	spans := newCollector(t)
	model := llmtest.New(t, llmtest.Options{})
	b := newBed(t, append(modelEnv(model), "OTEL_EXPORTER_OTLP_ENDPOINT="+spans.URL,
		"OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b")...)
	b.upload("secretname.md", longDocument())
	w := b.start()
	b.send(strings.Replace(b.ingest("traced", "secretname.md"), "{", `{"traceparent":"00-`+trace+`-`+sender+`-01",`, 1))
	if got := b.await(b.ctx, "traced"); got.Status != "completed" ||
		!strings.HasPrefix(got.TraceParent, "00-"+trace+"-") || strings.Contains(got.TraceParent, sender) {
		t.Errorf("the webhook is %+v", got)
	}
	// now: of two concurrent ones one waits for the other, and finds nothing to do
	b.send(b.ingest("untraced", "secretname.md"))
	own := strings.Split(b.await(b.ctx, "untraced").TraceParent, "-")
	if len(own) != 4 {
		t.Fatalf("the traceparent of a task without one is %q", own)
	}
	root := "process " + b.client + "-tasks"
	for !spans.have(own[1], root, "POST webhook") { // what the end of the worker flushes has seconds
		if !b.moment() {
			t.Fatal("the spans of the second task never came")
		}
	}
	w.signal(syscall.SIGTERM)
	if err := w.exit(); err != nil {
		t.Fatal(err)
	}

	spans.mu.Lock()
	defer spans.mu.Unlock()
	paths := spans.paths(trace)
	deletion := root // on other queues than Azure's it is no HTTP request
	if *onQueue == "azure" {
		deletion += " > DELETE queue"
	}
	for _, want := range []string{
		root,
		root + " > stage validating_input",
		root + " > stage fetching_source > GET blob",
		root + " > stage finalizing",
		root + " > aw_complete",
		deletion,
		"POST webhook",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("there is no span %s", want)
		}
	}
	// in whichever of the overlapping stages
	for _, ends := range []string{" > POST model", " > aw_stage_chunks", " > aw_stage_document"} {
		if !slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(p, root+" > stage ") && strings.HasSuffix(p, ends)
		}) {
			t.Errorf("no stage has a span%s", ends)
		}
	}
	if t.Failed() {
		t.Logf("the spans are\n%s", strings.Join(paths, "\n"))
	}
	for _, s := range spans.spans {
		if s.GetName() != root || hex.EncodeToString(s.GetTraceId()) != trace {
			continue
		}
		if hex.EncodeToString(s.GetParentSpanId()) != sender || len(s.GetLinks()) != 1 ||
			hex.EncodeToString(s.GetLinks()[0].GetSpanId()) != sender {
			t.Errorf("the task's span is not the sender's child and linked to it: %v", s)
		}
		if s.GetKind() != tracepb.Span_SPAN_KIND_CONSUMER ||
			attributeOf(s.GetAttributes(), "async_worker.outcome") != "succeeded" {
			t.Errorf("the task's span is %v", s)
		}
		if got := attributeOf(s.GetAttributes(), "messaging.system"); (got == "azure_storage_queue") != (*onQueue == "azure") {
			t.Errorf("the queues are of %s, and messaging.system is %q", *onQueue, got)
		}
	}
	// A task whose sender has no trace gets one of its own, with its webhook.
	if !slices.Contains(spans.paths(own[1]), root) ||
		!slices.Contains(spans.paths(own[1]), "POST webhook") {
		t.Errorf("of the other task there is %v", own)
	}
	if got := attributeOf(spans.who, "service.name") + " " +
		attributeOf(spans.who, "async_worker.client_id"); got != "async-worker "+b.client {
		t.Errorf("the resource is %v", spans.who)
	}
	for _, private := range []string{"secretname", "AccountKey", receiver.Secret, "Bearer", "sig="} {
		if bytes.Contains(spans.raw, []byte(private)) {
			t.Errorf("the spans have %q", private)
		}
	}
}

// TestTraceWithoutCollector: a collector that is down delays neither a task nor, for long, the end of the worker.
func TestTraceWithoutCollector(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1")
	b.upload("a.md", []byte("# A\n\nText."))
	w := b.start()
	b.send(b.ingest("traced", "a.md"))
	if got := b.await(b.ctx, "traced"); got.Status != "completed" {
		t.Errorf("the webhook is %+v", got)
	}
	w.signal(syscall.SIGTERM)
	if err := w.exit(); err != nil {
		t.Fatal(err)
	}
}
