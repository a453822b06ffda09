package xml_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestDirect(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	r := b.finish(b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{}))
	want := string(gatewaytest.Convert(gatewaytest.Sample, gatewaytest.Mapping, false))
	if got := b.Get("results/t7.xml"); got != want || r.ResultPath != "results/t7.xml" || r.Bytes != int64(len(got)) {
		t.Errorf("%s has %d bytes: %s", r.ResultPath, r.Bytes, got)
	}
	if r.Mapping != gatewaytest.Mapping || r.Mode != xml.Direct || r.HTTPStatus != 200 || r.GatewayMS < 1 || r.Deduplicated ||
		r.Confidence != nil || r.Source != xml.ByGateway || r.Review || r.DerivedContentID == "" || r.Embedded != nil {
		t.Errorf("the result: %+v", r)
	}
	if blob := handlertest.Query[string](b.Bench, "select blob from derived_contents where job_id = 't7'"); blob != r.ResultPath {
		t.Errorf("derived_contents has %s", blob)
	}
	b.calls(1, "one job")
	pretty := b.do(payloadOf(`,"pretty":true`))
	if got := b.Get(pretty.ResultPath); got != string(gatewaytest.Convert(gatewaytest.Sample, gatewaytest.Mapping, true)) {
		t.Errorf("pretty: %s", got)
	}
	b.calls(2, "a pretty one is another file")
}

// TestDefaults: without a filename the document is uploads/<task id>.pdf.
func TestDefaults(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.Put("uploads/t7.pdf", string(einvoicetest.PDF(invoice)))
	if r := b.finish(b.BeginAs("t7", task.XML, "{}", task.Hints{})); r.Filename != "uploads/t7.pdf" {
		t.Errorf("%+v", r)
	}
}

func TestPayload(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	for payload, says := range map[string]string{
		`{"filename":"../x"}`: "payload.filename", `{"filename":7}`: "payload", `{"mapping":"a b"}`: "payload.mapping",
		`{"mapping":"../../etc"}`: "payload.mapping", `{"mode":"quick"}`: "payload.mode", `{"pretty":"yes"}`: "payload",
		`{"mode":"checked","mapping":"embedded"}`: "payload.mode",
	} {
		if e := b.fails(payload); e.Class != taskerr.ValidationError || !strings.Contains(e.Message, says) {
			t.Errorf("%s: %v", payload, e)
		}
	}
	b.calls(0, "bad payloads")
}

// TestSameBytes: the same bytes, mapping and mode are paid for once, under whatever name and in whatever job; what
// differs in one of them, or is forced, is not the same. Tenants share nothing.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{Mappings: []string{gatewaytest.Mapping, "other"}})
	first := b.do(payloadOf(""))
	b.Put("copy.pdf", string(einvoicetest.PDF(invoice)))
	for _, payload := range []string{payloadOf(""), `{"filename":"copy.pdf"}`, payloadOf(`,"pretty":false,"mode":"direct"`)} {
		r := b.do(payload)
		if !r.Deduplicated || r.SHA256 != first.SHA256 || r.ResultPath == first.ResultPath || r.HTTPStatus != 200 ||
			r.GatewayMS != first.GatewayMS || b.Get(r.ResultPath) != b.Get(first.ResultPath) {
			t.Errorf("%s: %+v", payload, r)
		}
	}
	b.calls(1, "equal jobs")
	if r := b.do(payloadOf(`,"mapping":"other"`)); r.Deduplicated {
		t.Errorf("another mapping: %+v", r)
	}
	b.Put("other.pdf", string(einvoicetest.PDF(append(invoice, "Page 3"))))
	if r := b.do(`{"filename":"other.pdf"}`); r.Deduplicated {
		t.Errorf("another document: %+v", r)
	}
	b.calls(3, "another mapping, another document")
	if r := b.finish(b.Begin(payloadOf(""), task.Hints{Force: true})); r.Deduplicated {
		t.Errorf("forced: %+v", r)
	}
	b.calls(4, "a forced job")

	other, err := postgres.Open(t.Context(), b.URL, postgres.Options{ClientID: "mallory", Dimensions: 8, MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	b.Store, b.deps.Store = other, other
	if r := b.do(payloadOf("")); r.Deduplicated {
		t.Errorf("another tenant: %+v", r)
	}
	b.calls(5, "another tenant")
}

// TestForcedAgain: a forced run makes another file, and the one that is recorded stays.
func TestForcedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.finish(b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{}))
	before := b.Get("results/t7.xml")
	b.gateway.Script(gatewaytest.Fault{Body: []byte("<other/>")})
	r := b.finish(b.BeginAs("t7", task.XML, payloadOf(""), task.Hints{Force: true}))
	if r.ResultPath != "results/2/t7.xml" || b.Get(r.ResultPath) != "<other/>" || b.Get("results/t7.xml") != before {
		t.Errorf("%+v", r)
	}
	if r := b.do(payloadOf("")); b.Get(r.ResultPath) != "<other/>" || !r.Deduplicated {
		t.Errorf("the next job gets the newest answer: %+v", r)
	}
}

// TestKeptBlobRemoved: an answer whose blob somebody removed or changed is paid for again, not given out.
func TestKeptBlobRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.do(payloadOf(""))
	blob := func() string {
		return handlertest.Query[string](b.Bench, "select blob from gateway_answers")
	}
	if err := b.Bucket.Remove(t.Context(), blob()); err != nil {
		t.Fatal(err)
	}
	if r := b.do(payloadOf("")); r.Deduplicated {
		t.Errorf("removed: %+v", r)
	}
	b.calls(2, "removed")
	b.Put(blob(), "<forged/>")
	if r := b.do(payloadOf("")); strings.Contains(b.Get(r.ResultPath), "forged") {
		t.Error("a forged answer is given out")
	}
}

// TestWaits: while another job asks, an equal one is put back, and asks nothing.
func TestWaits(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	asked, answer := make(chan struct{}), make(chan struct{})
	b.gateway.Script(gatewaytest.Fault{Before: func() { close(asked); <-answer }})
	first, second := b.Begin(payloadOf(""), task.Hints{}), b.Begin(payloadOf(""), task.Hints{})
	done := make(chan result)
	go func() { done <- b.finish(first) }()
	<-asked
	_, err := xml.New(b.deps).Handle(t.Context(), second)
	var busy *store.BusyError
	if !errors.As(err, &busy) || busy.JobID != first.Task.ID {
		t.Errorf("the second job: %v", err)
	}
	close(answer)
	<-done
	if r := b.finish(second); !r.Deduplicated {
		t.Errorf("afterwards: %+v", r)
	}
	b.calls(1, "two jobs at once")
}

// TestNothingKeptOfAFailure: the answer of a failed call is not kept, and the next job asks.
func TestNothingKeptOfAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	for code, fault := range map[string]gatewaytest.Fault{
		"GW_4XX": gatewaytest.Status(400), "GW_5XX": gatewaytest.Malformed,
	} {
		b.gateway.Script(fault)
		c := b.Begin(payloadOf(""), task.Hints{})
		_, err := xml.New(b.deps).Handle(t.Context(), c)
		if taskerr.Classify(err).Code != code {
			t.Errorf("%s: %v", code, err)
		}
		b.CheckTemp()
		if _, err := b.Store.Release(t.Context(), store.Release{Holder: c.Holder}); err != nil {
			t.Fatal(err)
		}
	}
	if r := b.do(payloadOf("")); r.Deduplicated {
		t.Errorf("%+v", r)
	}
}

// TestNotAPDF: nothing is paid for what the gateway does not take.
func TestNotAPDF(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.Put("in.txt", "an invoice")
	if e := b.fails(`{"filename":"in.txt"}`); e.Class != taskerr.UnsupportedFormat {
		t.Errorf("%v", e)
	}
	if e := b.fails(`{"filename":"gone.pdf"}`); e.Class != taskerr.ContentMissing {
		t.Errorf("%v", e)
	}
	b.calls(0, "no PDF")
	b.deps.Gateway = nil
	if e := b.fails(payloadOf("")); e.Code != "XML_NO_GATEWAY" {
		t.Errorf("without a gateway: %v", e)
	}
}

// TestFilesFail: errors of the container and of the disk are IO_ERROR.
func TestFilesFail(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.deps.TempDir = b.Temp + "/gone"
	if e := b.fails(payloadOf("")); e.CodeFor(task.XML) != "IO_ERROR" || e.Class != taskerr.TransientStorage {
		t.Errorf("%v %s", e, e.CodeFor(task.XML))
	}
	if err := os.Mkdir(b.deps.TempDir, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(b.deps.TempDir)
	b.deps.Bucket = failing{b.Bucket}
	c := b.Begin(payloadOf(""), task.Hints{})
	_, err := xml.New(b.deps).Handle(context.WithoutCancel(t.Context()), c)
	if e := taskerr.Classify(err); e.CodeFor(task.XML) != "IO_ERROR" || e.Class != taskerr.TransientStorage {
		t.Errorf("%v %s", e, e.CodeFor(task.XML))
	}
}

// TestEmbedded: the XML in a PDF is the result without a call, and is recorded otherwise.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	b.Put("fx.pdf", string(einvoicetest.PDF(invoice, einvoicetest.File{Name: "factur-x.xml", Content: einvoicetest.CII})))
	b.Put("bad.pdf", string(einvoicetest.PDF(invoice, einvoicetest.File{Name: "factur-x.xml", Content: "<a>"})))
	with := b.deps.Gateway
	b.deps.Gateway = nil
	r := b.do(`{"filename":"fx.pdf","mapping":"embedded"}`)
	if b.Get(r.ResultPath) != einvoicetest.CII || r.Source != xml.ByPDF || r.HTTPStatus != 0 || r.GatewayMS != 0 ||
		r.Embedded == nil || r.Embedded.Standard != "factur-x" || r.Embedded.SHA256 != r.SHA256 {
		t.Errorf("%+v", r)
	}
	if e := b.fails(payloadOf(`,"mapping":"embedded"`)); e.Code != "XML_NO_EMBEDDED_XML" {
		t.Errorf("none: %v", e)
	}
	if e := b.fails(`{"filename":"bad.pdf","mapping":"embedded"}`); e.Class != taskerr.CorruptionDetected {
		t.Errorf("malformed: %v", e)
	}
	b.Put("locked.pdf", string(einvoicetest.Protected(invoice)))
	if e := b.fails(`{"filename":"locked.pdf","mapping":"embedded"}`); e.CodeFor(task.XML) != "XML_PASSWORD_PROTECTED" {
		t.Errorf("protected: %v", e)
	}
	b.calls(0, "embedded")
	b.deps.Gateway = with
	if r := b.do(`{"filename":"locked.pdf"}`); r.Source != xml.ByGateway || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "password") {
		t.Errorf("protected, and the gateway takes it: %+v", r)
	}
	if r := b.do(`{"filename":"fx.pdf"}`); r.Source != xml.ByGateway || r.Embedded == nil || r.Embedded.Name != "factur-x.xml" {
		t.Errorf("by the gateway: %+v", r)
	}
	if r := b.do(`{"filename":"bad.pdf"}`); r.Embedded != nil || len(r.Warnings) != 1 {
		t.Errorf("by the gateway, malformed: %+v", r)
	}
}

// TestNeeds: what a task needs.
func TestNeeds(t *testing.T) {
	t.Parallel()
	h := xml.New(xml.Deps{Gateway: (*nothing)(nil), Chat: &model{}, ExtractorNeeds: taskerr.Docling})
	for payload, want := range map[string]string{
		`{}`: "database storage gateway", `{"mapping":"embedded"}`: "database storage",
		`{"mode":"checked"}`: "database storage gateway chat docling",
	} {
		var got []string
		for _, d := range h.Needs(task.Task{ID: "t", Payload: []byte(payload)}) {
			got = append(got, string(d))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s needs %v, want %s", payload, got, want)
		}
	}
}
