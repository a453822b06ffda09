package ocr_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	handler "github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/internal/ocr/vision"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A scan is converted to each format, and to the requested pages.
func TestFormats(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.putPDF("in/scan.pdf", scanned(t, letter...), ocrtest.Page{Image: ocrtest.Blank().Gray},
		scanned(t, "A third page of Miller & <Sons>"))
	r := b.do(`{"filename":"scan.pdf","blob":"in/scan.pdf","languages":["eng"]}`, task.Hints{})
	if r.PageCount != 3 || r.OCREngine != "tesseract" || r.SourceFormat != "pdf" || r.MeanConfidence == nil ||
		*r.MeanConfidence < 0.8 || *r.MeanConfidence > 1 ||
		r.Version != 1 || r.DerivedContentID == "" || r.DerivedBlob != "derived/in/scan.pdf/job-1.1.md" || r.Reused ||
		len(r.UnreadPages)+len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	text := strings.Join(letter, " ")
	if got, want := b.Get(r.DerivedBlob), "<!-- page 1 -->\n\n"+text+
		"\n\n<!-- page 2 -->\n\n<!-- page 3 -->\n\nA third page of Miller &amp; &lt;Sons>\n"; got != want {
		t.Errorf("markdown %q", got)
	}
	r = b.do(`{"filename":"scan.pdf","blob":"in/scan.pdf","pages":"3,1-1"}`, task.Hints{OutputFormat: "text"})
	if got := b.Get(r.DerivedBlob); r.PageCount != 2 || !strings.HasPrefix(got, text+"\n\fA third page of ") ||
		!strings.HasSuffix(got, "\n\f") || r.Version != 2 {
		t.Errorf("text %q, %+v", got, r)
	}
	r = b.do(`{"filename":"scan.pdf","blob":"in/scan.pdf"}`, task.Hints{OutputFormat: "json"})
	var doc struct {
		PageCount      int     `json:"page_count"`
		MeanConfidence float64 `json:"mean_confidence"`
		Pages          []struct {
			Page, Width, Height, DPI int
			Blocks                   []struct {
				Text  string
				Lines []struct {
					Words []struct {
						Text       string
						Box        extract.Box
						Confidence float64
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(b.Get(r.DerivedBlob)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Pages) != 3 || doc.PageCount != 3 || doc.MeanConfidence != *r.MeanConfidence ||
		len(doc.Pages[1].Blocks) != 0 || doc.Pages[0].DPI != 300 || doc.Pages[0].Height < 3500 {
		t.Fatalf("%+v", doc)
	}
	if w := doc.Pages[0].Blocks[0].Lines[1].Words[0]; w.Text != "enters" || w.Confidence < 0.7 || w.Box.Top < 0.1 ||
		w.Box.Top > 0.15 || w.Box.Left < 0.1 || w.Box.Left > 0.15 {
		t.Errorf("%+v", w)
	}
	r = b.do(`{"filename":"scan.pdf","blob":"in/scan.pdf"}`, task.Hints{OutputFormat: "hocr"})
	if words := hocrWords(t, b.Get(r.DerivedBlob)); len(words) < 30 || !slices.Contains(words, "harbour") ||
		!strings.HasSuffix(r.DerivedBlob, ".hocr") {
		t.Errorf("hocr %q in %s", words, r.DerivedBlob)
	}
}

// hocrWords parses hOCR as XML and returns its words; each must have a box and a confidence.
func hocrWords(t *testing.T, text string) (words []string) {
	t.Helper()
	in := xml.NewDecoder(strings.NewReader(text))
	classes := map[string]int{}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range start.Attr {
			attr[a.Name.Local] = a.Value
		}
		classes[attr["class"]]++
		if attr["class"] == "ocrx_word" {
			var word string
			if err := in.DecodeElement(&word, &start); err != nil {
				t.Fatal(err)
			}
			var x0, y0, x1, y1, confidence int
			if n, err := fmt.Sscanf(attr["title"], "bbox %d %d %d %d; x_wconf %d", &x0, &y0, &x1, &y1,
				&confidence); n != 5 || x0 >= x1 || y0 >= y1 || confidence > 100 {
				t.Errorf("%q: %v", attr["title"], err)
			}
			words = append(words, word)
		}
	}
	if classes["ocr_page"] != 3 || classes["ocr_line"] < 4 || classes["ocr_par"] < 2 || classes["ocr_carea"] < 2 {
		t.Errorf("elements %v", classes)
	}
	return words
}

// An image is read in any rotation, and its boxes match the words.
func TestRotatedImages(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for rotation := range ocr.Rotation(4) {
		name := fmt.Sprintf("turned-%d.png", rotation.Degrees())
		b.Put(name, string(pngOf(t, ocrtest.Scan(t, rotation, letter...).Gray)))
		r := b.do(fmt.Sprintf(`{"filename":%q}`, name), task.Hints{})
		if got := b.Get(r.DerivedBlob); !strings.Contains(got, strings.Join(letter, " ")) ||
			r.SourceFormat != "image" || r.PageCount != 1 {
			t.Errorf("%d°: %q %+v", rotation.Degrees(), got, r)
		}
	}
}

// A document without page images needs no OCR.
func TestDocumentsOfOtherKinds(t *testing.T) {
	t.Parallel()
	e := &fake{}
	b := newBench(t, e)
	b.Put("notes.md", "# Ducks\n\nThey *swim*.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n")
	reader := fmt.Sprint("native/markdown@", markdown.New().Version())
	want := map[string]string{
		"markdown": "<!-- page 1 -->\n\n# Ducks\n\nThey swim.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n",
		"text":     "Ducks\n\nThey swim.\n\na\tb\n1\t2\n\f",
		"json":     `{"schema_version":1,"filename":"notes.md","source_format":"markdown","ocr_engine":"` + reader + `","pages":[` + "\n" + `{"page":1,"rotation":0,"blocks":[{"type":"heading","text":"Ducks","level":1},`,
		"hocr": "<p class=\"ocr_par\" id=\"par_1_2\">\n    <span class=\"ocr_line\" id=\"line_1_2\">They " +
			"swim.</span>\n",
	}
	for format, text := range want {
		r := b.do(`{"filename":"notes.md"}`, task.Hints{OutputFormat: format})
		if got := b.Get(r.DerivedBlob); !strings.Contains(got, text) || r.OCREngine != "native/markdown" ||
			r.MeanConfidence != nil || r.PageCount != 1 || e.calls != 0 {
			t.Errorf("%s: %q %+v", format, got, r)
		}
	}
	if says := b.fails(`{"filename":"notes.md","pages":"2"}`, task.Hints{},
		taskerr.ValidationError); !strings.Contains(says, "has no pages") {
		t.Error(says)
	}
	b.Put("empty.txt", "\n \n")
	if r := b.do(`{"filename":"empty.txt"}`, task.Hints{}); len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.putPDF("a.pdf", scanned(t, "A page"))
	b.Put("b.bin", string([]byte{1, 2, 3, 0, 0, 255, 254}))
	b.Put("c.png", "\x89PNG\r\n\x1a\nnot really")
	for payload, tt := range map[string]struct {
		hints task.Hints
		class taskerr.Class
		says  string
	}{
		`{}`: {
			task.Hints{},
			taskerr.ValidationError,
			"payload.filename is missing",
		},
		`{"filename":"a.pdf","blob":"../b"}`: {
			task.Hints{},
			taskerr.ValidationError,
			"payload.blob is refused",
		},
		`{"filename":"a.pdf","pages":"0"}`:                    {task.Hints{}, taskerr.ValidationError, `such as "1-3,7"`},
		`{"filename":"a.pdf","pages":"3-1"}`:                  {task.Hints{}, taskerr.ValidationError, `such as "1-3,7"`},
		`{"filename":"a.pdf","pages":"1,,2"}`:                 {task.Hints{}, taskerr.ValidationError, `such as "1-3,7"`},
		`{"filename":"a.pdf","pages":"1-9999999999"}`:         {task.Hints{}, taskerr.ValidationError, "beyond page 1000000"},
		`{"filename":"a.pdf","pages":"1000001"}`:              {task.Hints{}, taskerr.ValidationError, "beyond page 1000000"},
		`{"filename":"a.pdf","pages":"99999999999999999999"}`: {task.Hints{}, taskerr.ValidationError, "beyond page 1000000"},
		`{"filename":"a.pdf","pages":"x-99999999"}`:           {task.Hints{}, taskerr.ValidationError, `such as "1-3,7"`},
		`{"filename":"a.pdf","pages":7}`:                      {task.Hints{}, taskerr.ValidationError, "wrong type"},
		`{"filename":"a.pdf","pages":"1-2"}`: {
			task.Hints{},
			taskerr.ValidationError,
			"asks for page 2, but the document has 1",
		},
		`{"filename":"a.pdf","languages":["klingon"]}`: {
			task.Hints{},
			taskerr.ValidationError,
			`payload.languages is refused: the language "klingon" can't be read; tesseract has data for eng`,
		},
		`{"filename":"a.pdf","languages":"eng"}`: {task.Hints{}, taskerr.ValidationError, "languages is a list"},
		`{"filename":"a.pdf","blob":"a.pdf"}`: {
			task.Hints{OutputFormat: "alto"},
			taskerr.ValidationError,
			"hints.output_format is none of markdown, text, hocr, json",
		},
		`{"filename":"gone.pdf"}`: {task.Hints{}, taskerr.ContentMissing, "gone.pdf"},
		`{"filename":"b.bin"}`:    {task.Hints{}, taskerr.UnsupportedFormat, "can't be read"},
		`{"filename":"c.png"}`:    {task.Hints{}, taskerr.CorruptionDetected, "damaged"},
	} {
		if got := b.fails(payload, tt.hints, tt.class); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q", payload, got)
		}
	}
	bare := newBench(t, nil, func(d *handler.Deps) {
		d.Reader.Engine, d.NoEngine = nil, errors.New("tesseract is not installed; install tesseract-ocr")
	})
	bare.putPDF("a.pdf", scanned(t, "A page"))
	if got := bare.fails(`{"filename":"a.pdf"}`, task.Hints{}, taskerr.DependencyUnavailable); !strings.Contains(got,
		"install tesseract-ocr") {
		t.Error(got)
	}
	_, err := bare.handler.Handle(t.Context(), bare.Begin(`{"filename":"a.pdf"}`, task.Hints{}))
	if hint := taskerr.Classify(err).Hint; !strings.Contains(hint, "then restart the worker") {
		t.Errorf("the hint is %q", hint)
	}
}

// A model returns Markdown without boxes. Each format uses as much of it as possible.
func TestModel(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{Reply: func(r llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Reply{
			Text: fmt.Sprintf("# Harbour\n\nShips *of* %d\n\n| ship | hour |\n| - | - |\n| Ada | 7 |",
				r.Images[0].Bounds().Dy()),
		}
	}})
	chat, err := openai.NewChat(openai.Config{
		BaseURL: s.URL(), APIKey: llmtest.Key, Model: "gpt-4o-mini", HTTPClient: s.Client(), Dependency: taskerr.OCR,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, vision.New(chat, vision.Options{}))
	if needs := b.handler.Spec().Needs; !slices.Contains(needs, taskerr.OCR) {
		t.Errorf("needs %v", needs)
	}
	b.putPDF("a.pdf", scanned(t, "A page"), ocrtest.Page{Image: ocrtest.Blank().Gray})
	want := map[string][]string{
		"markdown": {"<!-- page 1 -->\n\n# Harbour\n\nShips *of* 640\n\n| ship | hour |\n| - | - |\n| Ada | 7 " +
			"|\n\n<!-- page 2 -->\n"},
		"text": {"Harbour\n\nShips of 640\n\nship\thour\nAda\t7\n\f\f"},
		"json": {`"markdown":"# Harbour`, `{"type":"heading","text":"Harbour","level":1}`, `"mean_confidence":null`},
		"hocr": {
			`content="ocr_page ocr_carea ocr_par ocr_line"`,
			`<span class="ocr_line" id="line_1_2">Ships of 640</span>`,
		},
	}
	for format, parts := range want {
		r := b.do(`{"filename":"a.pdf","languages":["deu"]}`, task.Hints{OutputFormat: format, Resolution: 640})
		got := b.Get(r.DerivedBlob)
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q", format, got)
			}
		}
		if r.OCREngine != "openai" || r.Model != "gpt-4o-mini" || r.MeanConfidence != nil || r.PageCount != 2 ||
			r.Usage == nil || r.Requests != 1 || r.PromptTokens < 700 {
			t.Errorf("%s: %+v %+v", format, r, r.Usage)
		}
	}
}

// TestResolution: hints.resolution is the longest side of the images in pixels, for any content.
func TestResolution(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sides []int
	e := &fake{fail: func(_ context.Context, _ int, img ocr.Image) error {
		mu.Lock()
		defer mu.Unlock()
		sides = append(sides, max(img.Rect.Dx(), img.Rect.Dy()))
		return nil
	}}
	b := newBench(t, e)
	b.putPDF("a.pdf", scanned(t, "A page"), scanned(t, "Another"))
	r := b.do(`{"filename":"a.pdf"}`, task.Hints{Resolution: 701})
	if len(r.Warnings) > 0 || !slices.Equal(sides, []int{701, 701}) {
		t.Errorf("the images' longest sides are %v, want 701; warnings %q", sides, r.Warnings)
	}
	sides = nil
	r = b.do(`{"filename":"a.pdf"}`, task.Hints{Resolution: 10})
	if !slices.Equal(sides, []int{256, 256}) || !slices.ContainsFunc(r.Warnings,
		func(w string) bool { return strings.Contains(w, "hints.resolution of 10 pixels was brought to 256") }) {
		t.Errorf("the images' longest sides are %v, want 256; warnings %q", sides, r.Warnings)
	}
	sides = nil
	b.putPDF("large.pdf", scanned(t, "A page"))
	const limited = "1 of 1 pages were read with fewer than the 8000 pixels of hints.resolution"
	for _, read := range []int{1, 0} { // the second time the document is not read again
		r = b.do(`{"filename":"large.pdf"}`, task.Hints{Resolution: 8000})
		if len(sides) != read || read > 0 && sides[0] >= 8000 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], limited) {
			t.Errorf("the images' longest sides are %v; warnings %q", sides, r.Warnings)
		}
		sides = nil
	}
}
