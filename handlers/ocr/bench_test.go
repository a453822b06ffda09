package ocr_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

// bench is a handler of ocr tasks.
type bench struct {
	*handlertest.Bench
	handler *handler.Handler
}

// newBench returns a handler with an engine; nil: tesseract.
func newBench(t *testing.T, engine ocr.Engine, edit ...func(*handler.Deps)) *bench {
	t.Helper()
	ocrtest.Need(t, "pdftoppm", "pdftotext", "pdfinfo", "tesseract")
	b := &bench{Bench: handlertest.New(t, task.OCR, 8)}
	var err error
	if engine == nil {
		if engine, err = tesseract.Open(t.Context(), tesseract.Options{
			Languages: []string{"eng"},
			TempDir:   b.Temp,
		}); err != nil {
			t.Fatal(err)
		}
	}
	deps := handler.Deps{
		Bucket: b.Bucket, Store: b.Store, Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)),
		TempDir: b.Temp,
		Limits:  extract.Limits{Bytes: 32 << 20},
		Reader:  pages.Reader{Engine: engine, Budget: pages.NewBudget(2), PageTime: time.Minute},
	}
	for _, e := range edit {
		e(&deps)
	}
	b.handler = handler.New(deps)
	return b
}

func (b *bench) putPDF(name string, of ...ocrtest.Page) {
	b.Helper()
	content, err := os.ReadFile(ocrtest.Write(b, of...))
	if err != nil {
		b.Fatal(err)
	}
	b.Put(name, string(content))
}

// do runs a task to its end, like the engine.
func (b *bench) do(payload string, hints task.Hints) handler.Result {
	b.Helper()
	return b.doAs("", payload, hints)
}

func (b *bench) doAs(id, payload string, hints task.Hints) handler.Result {
	b.Helper()
	c := b.BeginAs(id, task.OCR, payload, hints)
	out, err := b.handler.Handle(b.Context(), c)
	if err != nil {
		b.Fatalf("%s: %v", payload, err)
	}
	return b.complete(c, out)
}

func (b *bench) complete(c handlers.Call, out handlers.Outcome) (r handler.Result) {
	b.Helper()
	b.Complete(c, out, &r)
	return r
}

// fails runs a task that must fail and returns the error.
func (b *bench) fails(payload string, hints task.Hints, class taskerr.Class) string {
	b.Helper()
	c := b.Begin(payload, hints)
	err := b.handler.Check(c.Task)
	if err == nil {
		_, err = b.handler.Handle(b.Context(), c)
	}
	if err == nil || taskerr.Classify(err).Class != class {
		b.Errorf("%s: %v, want %s", payload, err, class)
		return ""
	}
	b.CheckTemp()
	return taskerr.Classify(err).Message
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
