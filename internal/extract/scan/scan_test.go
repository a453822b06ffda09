package scan_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/extract/score"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// engine is an engine whose answers the test decides.
type engine func(ctx context.Context, img ocr.Image) (ocr.Page, error)

func (engine) Name() string        { return "fake" }
func (engine) Version() string     { return "1" }
func (engine) Languages() []string { return []string{"eng"} }

func (engine) Abilities() ocr.Abilities {
	return ocr.Abilities{Boxes: true, Confidence: true, DPI: 300}
}
func (e engine) For(ocr.Preferences) (ocr.Engine, error) { return e, nil }

func (e engine) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) { return e(ctx, img) }

// reads returns an engine that reads the same text on every page.
func reads(text string) engine {
	return func(context.Context, ocr.Image) (ocr.Page, error) {
		word := ocr.Word{Text: text, Confidence: 0.9, Box: ocr.Box{Left: 0.1, Top: 0.1, Right: 0.9, Bottom: 0.2}}
		return ocr.Page{Paragraphs: []ocr.Paragraph{{{word}}}}, nil
	}
}

// unhurried is for tests with a real engine on a busy machine.
var unhurried = scan.Options{PageTime: 10 * time.Minute}

func collect(t *testing.T, e extract.Extractor, path string) *extract.Document {
	t.Helper()
	doc, err := extractFile(t.Context(), t, e, path)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func extractFile(ctx context.Context, t *testing.T, e extract.Extractor, path string) (*extract.Document, error) {
	t.Helper()
	ocrtest.Need(t, "pdftotext", "pdftoppm")
	src, err := extract.Open(path, filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	return extract.Collect(ctx, extract.NewRouter(map[extract.Format]extract.Extractor{extract.PDF: e}), src,
		extract.Limits{})
}

// outline lists each block's page and text.
func outline(doc *extract.Document) string {
	var lines []string
	for _, b := range doc.Blocks {
		lines = append(lines, string(rune('0'+b.Page))+" "+b.Text)
	}
	return strings.Join(lines, "\n")
}

func written(about string) ocrtest.Page {
	return ocrtest.Page{Lines: []string{
		about + " is told on this page in a line or two of plain text,",
		"so that nobody can take it for the image of a page.",
	}}
}

func scanned(t *testing.T, rotation ocr.Rotation, lines ...string) ocrtest.Page {
	t.Helper()
	return ocrtest.Page{Image: ocrtest.Scan(t, rotation, lines...).Gray}
}

func blank() ocrtest.Page { return ocrtest.Page{Image: ocrtest.Blank().Gray} }

// A document of written, scanned and blank pages is read in order, with the real engine.
func TestMixedDocument(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "tesseract", "pdftoppm")
	reader, err := tesseract.Open(t.Context(), tesseract.Options{Languages: []string{"eng"}})
	if err != nil {
		t.Fatal(err)
	}
	letter := []string{
		"The harbour master keeps a record of every ship", "that enters or leaves the port, with the hour and",
		"the name of its captain.",
	}
	doc := collect(t, scan.New(pdf.New(), reader, unhurried), ocrtest.Write(t,
		scanned(t, 0, letter...), written("The first matter"), scanned(t, 1, letter...), blank(), ocrtest.Page{},
		written("The second matter"), scanned(t, 2, letter...), scanned(t, 3, letter...),
	))
	text := strings.Join(letter, " ")
	first := "The first matter is told on this page in a line or two of plain text, so that nobody can take it for " +
		"the image of a page."
	want := "1 " + text + "\n2 " + first + "\n3 " + text + "\n6 " + strings.Replace(first, "first", "second", 1) +
		"\n7 " + text + "\n8 " + text
	if got := outline(doc); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	p := doc.Properties
	if doc.Extractor != "native/pdf+tesseract" || p["ocr_pages"] != "4" ||
		p["ocr_engine"] != "tesseract "+reader.Version() || p["ocr_languages"] != "eng" ||
		p["ocr_confidence"] < "0.85" || p["unread_pages"] != "" || doc.Pages != 8 {
		t.Errorf("%+v", doc.Info)
	}
	for _, b := range doc.Blocks {
		if b.Box == nil || b.Box.Left < 0 || b.Box.Right > 1 || b.Box.Left >= b.Box.Right || b.Box.Top >= b.Box.Bottom {
			t.Errorf("page %d: box %+v", b.Page, b.Box)
		}
	}
}

func TestTextNeedsNoOCR(t *testing.T) {
	t.Parallel()
	e := scan.New(pdf.New(), reads("never"), unhurried)
	doc := collect(t, e, ocrtest.Write(t, ocrtest.Page{Lines: []string{"A short page"}}, written("Everything"),
		ocrtest.Page{}))
	if doc.Extractor != "native/pdf" || strings.Contains(outline(doc), "never") || doc.Properties["ocr_pages"] != "" {
		t.Errorf("%+v\n%s", doc.Info, outline(doc))
	}
}

// A stamp doesn't make a scan a written page. Its text stays, and its words are not repeated from OCR.
func TestStampedScan(t *testing.T) {
	t.Parallel()
	e := scan.New(pdf.New(), engine(func(_ context.Context, img ocr.Image) (ocr.Page, error) {
		part := img.Part
		if part.Right-part.Left > 0.9 || part.Bottom-part.Top > 0.5 {
			t.Errorf("the engine got %+v of the page, of which only a part has more than its own text", part)
		}
		line := func(top float64, words ...string) ocr.Paragraph {
			var l ocr.Line
			for i, w := range words {
				left := 0.12 + 0.1*float64(i)
				l = append(l, ocr.Word{
					Text: w, Confidence: 0.9, Box: ocr.Box{
						Left: (left - part.Left) / (part.Right - part.Left), Top: (top - part.Top) / (part.Bottom - part.Top),
						Right:  (left + 0.05 - part.Left) / (part.Right - part.Left),
						Bottom: (top + 0.012 - part.Top) / (part.Bottom - part.Top),
					},
				})
			}
			return ocr.Paragraph{l}
		}
		return ocr.Page{Paragraphs: []ocr.Paragraph{line(0.096, "N0."), line(0.5, "what", "the", "image", "says")}}, nil
	}), unhurried)
	stamped := scanned(t, 0, "", "", "", "A scan that bears", "a number as text", "has some more lines")
	stamped.Lines = []string{"No. 4711"}
	doc := collect(t, e, ocrtest.Write(t, written("One"), stamped))
	if got := outline(doc); !strings.HasSuffix(got, "\n2 No. 4711\n2 what the image says") {
		t.Error(got)
	}
	want := []extract.PageDecision{
		{
			First: 1, Last: 1, Method: extract.PageNative, Confidence: 1,
			Reason: "little text; there is nothing else to read",
		},
		{First: 2, Last: 2, Method: extract.PageMixed, Confidence: 0.9, Reason: "little text"},
	}
	if !slices.Equal(doc.PageLog, want) {
		t.Errorf("%+v", doc.PageLog)
	}
}

func TestNameAndVersionReflectOCR(t *testing.T) {
	t.Parallel()
	bare := pdf.New()
	without := scan.Without(bare, errors.New("no engine"), unhurried)
	with := scan.New(bare, reads("x"), unhurried)
	if without.Name() != bare.Name() || without.Version() != bare.Version() {
		t.Errorf("without: %s %d", without.Name(), without.Version())
	}
	if with.Name() != "native/pdf+fake:eng" || with.Version() == bare.Version() {
		t.Errorf("with: %s %d", with.Name(), with.Version())
	}
}

func TestStopsWithTheTask(t *testing.T) {
	t.Parallel()
	path := ocrtest.Write(t, scanned(t, 0, "A page"))
	errEnough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := extractFile(ctx, t, scan.New(pdf.New(), engine(func(ctx context.Context, _ ocr.Image) (ocr.Page, error) {
		cancel(errEnough)
		return ocr.Page{}, context.Cause(ctx)
	}), unhurried), path)
	if !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
}

func TestStopsOnAnErrorOfEmit(t *testing.T) {
	t.Parallel()
	ocrtest.Need(t, "pdftotext")
	path := ocrtest.Write(t, scanned(t, 0, "A page"))
	errFull := errors.New("full")
	_, err := scan.New(pdf.New(), reads("x"), unhurried).Extract(t.Context(), extract.Source{Path: path},
		extract.Limits{},
		func(extract.Block) error { return errFull })
	if !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

// With poppler, but without tesseract on the PATH, a scan is not a failure.
func TestWithoutTesseract(t *testing.T) {
	ocrtest.Need(t, "pdftotext", "pdftoppm", "pdftohtml", "pdfinfo")
	path := ocrtest.Write(t, scanned(t, 0, "A page"))
	bin := t.TempDir()
	for _, program := range []string{"pdftotext", "pdftoppm", "pdftohtml", "pdfinfo"} {
		where, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(where, filepath.Join(bin, program)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	_, err := tesseract.Open(t.Context(), tesseract.Options{})
	if err == nil {
		t.Fatal("tesseract was found")
	}
	doc := collect(t, scan.Without(pdf.New(), err, unhurried), path)
	if len(doc.Blocks) != 0 || doc.Properties["unread_pages"] != "1" ||
		!strings.Contains(doc.Properties["unread_reason"], "install tesseract-ocr") {
		t.Errorf("%+v", doc)
	}
}

// shared is a folder of real third-party documents, beside the repository. The test is skipped without it.
const shared = "../../../../shared/corpus"

func TestCorpusScans(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ocr_test.pdf", "ocr_test_rotated_90.pdf"} {
		reference, err := os.ReadFile(filepath.Join(shared, "docling", name+".md"))
		if err != nil {
			t.Skip(corpus.Missing)
		}
		ocrtest.Need(t, "tesseract")
		reader, err := tesseract.Open(t.Context(), tesseract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doc := collect(t, scan.New(pdf.New(), reader, unhurried), filepath.Join(shared, "documents", name))
		var text strings.Builder
		if err := extract.WriteMarkdown(&text, doc); err != nil {
			t.Fatal(err)
		}
		f1, order := score.Score(string(reference), text.String())
		t.Logf("%-26s F1 %.3f  order %.3f  %s, confidence %s", name, f1, order, doc.Extractor,
			doc.Properties["ocr_confidence"])
		if f1 < 0.9 || order < 0.9 {
			t.Errorf("%s: F1 %.3f, order %.3f", name, f1, order)
		}
	}
}
