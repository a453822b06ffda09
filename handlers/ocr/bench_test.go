package ocr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/handlers"
	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, func() error { return goleak.Find() }) }

// bench is a handler on a real Postgres and a folder of blobs.
type bench struct {
	*testing.T
	store   store.Store
	bucket  *dir.Bucket
	handler *handler.Handler
	blobs   string // the bucket's folder
	temp    string
	jobs    int
}

// newBench makes a handler with an engine; nil: tesseract.
func newBench(t *testing.T, engine ocr.Engine, edit ...func(*handler.Deps)) *bench {
	t.Helper()
	ocrtest.Need(t, "pdftoppm", "pdftotext", "pdfinfo", "tesseract")
	b := &bench{T: t, blobs: t.TempDir(), temp: t.TempDir()}
	b.bucket = dir.New(b.blobs)
	var err error
	if engine == nil {
		if engine, err = tesseract.Open(t.Context(), tesseract.Options{Languages: []string{"eng"},
			TempDir: b.temp}); err != nil {
			t.Fatal(err)
		}
	}
	b.store, err = postgres.Open(t.Context(), stacktest.PostgresWith(t, schema.Options{Dimensions: 8}),
		postgres.Options{ClientID: "acme", Dimensions: 8, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.store.Close)
	if err := b.bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	deps := handler.Deps{
		Bucket: b.bucket, Store: b.store, Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)),
		TempDir: b.temp,
		Limits:  extract.Limits{Bytes: 32 << 20},
		Reader:  pages.Reader{Engine: engine, Budget: pages.NewBudget(2), PageTime: time.Minute},
	}
	for _, e := range edit {
		e(&deps)
	}
	b.handler = handler.New(deps)
	return b
}

func (b *bench) put(name string, content []byte) {
	b.Helper()
	if _, err := b.bucket.Put(b.Context(), name, bytes.NewReader(content), ""); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) putPDF(name string, of ...ocrtest.Page) {
	b.Helper()
	content, err := os.ReadFile(ocrtest.Write(b, of...))
	if err != nil {
		b.Fatal(err)
	}
	b.put(name, content)
}

func (b *bench) get(name string) string {
	b.Helper()
	_, body, err := b.bucket.Open(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

// begin starts a job. An id that was used before is forced.
func (b *bench) begin(id, payload string, hints task.Hints) handlers.Call {
	b.Helper()
	if id == "" {
		b.jobs++
		id = fmt.Sprint("job-", b.jobs)
	}
	begun, err := b.store.Begin(b.Context(), store.Begin{
		JobID: id, Type: "ocr", Payload: json.RawMessage(payload), Hints: json.RawMessage("{}"), Priority: "normal",
		Force:       hints.Force,
		Fingerprint: id, MaxAttempts: 3, Worker: "w", Lease: time.Minute,
		Source: store.Source{MessageID: fmt.Sprint(id, time.Now())},
	})
	if err != nil || begun.Decision != store.Run {
		b.Fatalf("begin: %v, %v", begun.Decision, err)
	}
	return handlers.Call{
		Task:   task.Task{ID: id, Type: task.OCR, Payload: json.RawMessage(payload), Hints: hints},
		Holder: store.Holder{JobID: id, Fence: begun.Fence}, Attempt: begun.Attempt, Progress: &progress{},
	}
}

// progress keeps what it was told.
type progress struct {
	mu    sync.Mutex
	said  []string
	pages [2]int // done, of
}

func (p *progress) Stage(name string) error  { p.Report(0, name); return nil }
func (*progress) Checkpoint(any)             {}
func (*progress) Delta(string, bool)         {}
func (*progress) Save(context.Context) error { return nil }
func (p *progress) Pages(done, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages = [2]int{done, of}
}

func (p *progress) Report(_ float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if message != "" {
		p.said = append(p.said, message)
	}
}

// do does a task to its end, as the engine would.
func (b *bench) do(payload string, hints task.Hints) handler.Result {
	b.Helper()
	return b.doAs("", payload, hints)
}

func (b *bench) doAs(id, payload string, hints task.Hints) handler.Result {
	b.Helper()
	c := b.begin(id, payload, hints)
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatalf("%s: %v", payload, err)
	}
	return b.complete(c, out)
}

func (b *bench) complete(c handlers.Call, out handlers.Outcome) handler.Result {
	b.Helper()
	raw, err := json.Marshal(out.Result)
	if err != nil {
		b.Fatal(err)
	}
	settled, err := b.store.Complete(b.Context(), store.Completion{Holder: c.Holder, Result: raw, Effects: out.Effects})
	if err != nil {
		b.Fatal(err)
	}
	var r handler.Result
	if err := json.Unmarshal(settled.Result, &r); err != nil {
		b.Fatal(err)
	}
	b.clean()
	return r
}

// fails does a task that fails, and returns the error.
func (b *bench) fails(payload string, hints task.Hints, class taskerr.Class) string {
	b.Helper()
	c := b.begin("", payload, hints)
	err := b.handler.Check(c.Task)
	if err == nil {
		_, err = b.handler.Handle(b.Context(), c)
	}
	if err == nil || taskerr.Classify(err).Class != class {
		b.Errorf("%s: %v, want %s", payload, err, class)
		return ""
	}
	b.clean()
	return taskerr.Classify(err).Message
}

// clean checks that no temporary file is left.
func (b *bench) clean() {
	b.Helper()
	if left, err := os.ReadDir(b.temp); err != nil || len(left) > 0 {
		b.Errorf("temporary files are left: %v, %v", left, err)
	}
}

var letter = []string{
	"The harbour master keeps a record of every ship that", "enters or leaves the port, with the hour, the weather and",
	"the name of its captain.",
}

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func scanned(t *testing.T, lines ...string) ocrtest.Page {
	return ocrtest.Page{Image: ocrtest.Scan(t, 0, lines...).Gray}
}
