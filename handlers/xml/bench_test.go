package xml_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

// invoice is gatewaytest.Sample, printed: what it sums up is on page 2.
var invoice = []string{
	`Southhaven Harbour Company, VAT DE 811 907 980
	Invoice SH-2026-0417 of 17 March 2026, to Ellery Timber Ltd, Port Ellery
	1  Berth 4, three days         3  412.50  1,237.50
	2  Crane with driver, hours    6  148.00    888.00
	3  Shore power, kWh          940    0.31    291.40`,
	`Net 2,416.90 EUR
	VAT 19 %: 459.21 EUR
	Total 2,876.11 EUR
	Payable by 16.04.2026`,
}

// pageOf is the page of invoice with a value of the sample.
func pageOf(path string) int {
	for _, on := range []string{"/invoice/net", "/invoice/tax", "/invoice/total", "/invoice/dueDate"} {
		if strings.HasPrefix(path, on) {
			return 2
		}
	}
	return 1
}

// bench is a handler of xml tasks with a stand-in of the gateway, and a model whose answers a test decides.
type bench struct {
	*handlertest.Bench
	gateway *gatewaytest.Server
	model   *model
	deps    xml.Deps
}

func newBench(t *testing.T, o gatewaytest.Options, edit ...func(*xml.Deps)) *bench {
	t.Helper()
	for _, program := range []string{"pdfdetach", "pdftotext"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: apt install poppler-utils", program)
		}
	}
	b := &bench{Bench: handlertest.New(t, task.XML, 8), gateway: gatewaytest.New(t, o), model: &model{}}
	b.model.reply = b.model.honest
	b.Job.MaxAttempts = 99
	limits := extract.DefaultLimits
	limits.Bytes = 1 << 20
	b.deps = xml.Deps{
		Bucket: b.Bucket, Store: b.Store, Gateway: b.client(), Limits: limits, TempDir: b.Temp,
		Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)), Log: slog.New(slog.DiscardHandler),
		Chat: b.model, Window: 128_000, Counter: token.New(), Confidence: 0.85,
	}
	for _, e := range edit {
		e(&b.deps)
	}
	b.Put("in.pdf", string(einvoicetest.PDF(invoice)))
	return b
}

func (b *bench) client() *gateway.Client {
	b.Helper()
	c, err := gateway.New(gateway.Options{URL: b.gateway.URL(), HTTP: b.gateway.Client()})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// result is the result in a webhook.
type result struct {
	xml.Result
	DerivedContentID string `json:"derived_content_id"`
	CheckID          string `json:"check_id"`
}

// finish runs an attempt to its end, like the engine.
func (b *bench) finish(c handlers.Call) (r result) {
	b.Helper()
	out, err := xml.New(b.deps).Handle(b.Context(), c)
	if err != nil {
		b.Fatalf("handle: %v", err)
	}
	b.Complete(c, out, &r)
	return r
}

func (b *bench) do(payload string) result {
	b.Helper()
	return b.finish(b.Begin(payload, task.Hints{}))
}

// fails runs an attempt that must fail, and returns its error.
func (b *bench) fails(payload string) *taskerr.Error {
	b.Helper()
	c := b.Begin(payload, task.Hints{})
	h := xml.New(b.deps)
	err := h.Check(c.Task)
	if err == nil {
		_, err = h.Handle(b.Context(), c)
	}
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok {
		b.Fatalf("%s: got %v, want an error of the job", payload, err)
	}
	b.CheckTemp()
	return e
}

// calls fails the test unless so many calls of the gateway were paid for.
func (b *bench) calls(want int, when string) {
	b.Helper()
	if got := b.gateway.Paid(); got != want {
		b.Errorf("%s: %d calls were paid for, want %d", when, got, want)
	}
}

// model answers by reply.
type model struct {
	reply func(q llm.Question) (llm.Answer, error)

	mu    sync.Mutex
	asked []llm.Question
}

func (*model) Model() string { return "scripted" }

func (m *model) Ask(_ context.Context, q llm.Question) (llm.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, q)
	m.mu.Unlock()
	return m.reply(q)
}

// read is one value that the model reads.
type read struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	Page  int    `json:"page"`
	Code  bool   `json:"code"`
}

// says returns the answer of a model that is sure of what it has read.
func says(fields []read, verdict string) (llm.Answer, error) {
	text, err := json.Marshal(map[string]any{
		"verdict": verdict, "confidence": 0.97, "fields": fields, "remarks": []any{},
	})
	return llm.Answer{Text: string(text), End: llm.Stopped, PromptTokens: 100, CompletionTokens: 50}, err
}

// parrot reads the data of a question as it is, on the pages where the sample is printed.
func parrot(q llm.Question) (fields []read) {
	_, data, _ := strings.Cut(q.Text, "\nThe data:\n")
	for line := range strings.Lines(data) {
		path, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		var text string
		if json.Unmarshal([]byte(value), &text) == nil {
			fields = append(fields, read{Path: path, Value: text, Page: pageOf(path)})
		}
	}
	return fields
}

func (m *model) honest(q llm.Question) (llm.Answer, error) { return says(parrot(q), "agrees") }

// payloadOf is the payload of a task about in.pdf.
func payloadOf(more string) string { return fmt.Sprintf(`{"filename":"in.pdf"%s}`, more) }
