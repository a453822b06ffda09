package derived_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/derived"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// hostile is text that is markup in every format.
const hostile = "a <b> & \"c\" --> \x01 *d*\f"

func head() derived.Head {
	return derived.Head{
		Filename: `in/"scan" <1>.pdf`, SourceFormat: "pdf", Engine: "tesseract", Version: "5.3.0",
		Languages: []string{"eng", "deu"},
		Abilities: ocr.Abilities{Boxes: true, Confidence: true},
	}
}

// write writes a document of a page with words, an unread one, one with a table, and an empty one.
func write(t *testing.T, f derived.Format) string {
	t.Helper()
	var b bytes.Buffer
	w := derived.NewWriter(&b, f, head())
	words := ocr.Paragraph{{
		{Text: "Two", Confidence: 0.9, Box: ocr.Box{Left: 0.1, Top: 0.1, Right: 0.2, Bottom: 0.15}},
		{Text: hostile, Confidence: 0.5, Box: ocr.Box{Left: 0.25, Top: 0.1, Right: 0.5, Bottom: 0.15}},
	}, {{Text: "below", Confidence: 1, Box: ocr.Box{Left: 0.1, Top: 0.2, Right: 0.2, Bottom: 0.25}}}}
	box := extract.Box(words.Box())
	table := &extract.Table{
		Headers: 1, Rows: [][]extract.Cell{{{Text: "h"}, {Text: "i\nj"}}, {{Text: "1"}, {Text: "2"}}},
	}
	more := &extract.Table{
		Headers: 1, Continued: true, Rows: [][]extract.Cell{{{Text: "h"}, {Text: "i\nj"}}, {{Text: "3"}, {Text: "4"}}},
	}
	for _, err := range []error{
		w.Page(derived.Page{Number: 1, Width: 1000, Height: 2000, DPI: 300, Turned: 90, Confidence: 0.8, Letters: 9}),
		w.Block(derived.Block{
			Block: extract.Block{
				Kind: extract.Paragraph, Text: "Two " + hostile + " below", Page: 1, Box: &box,
			}, Words: words,
		}),
		w.Page(derived.Page{Number: 2, Unread: "it broke --> off"}),
		w.Page(derived.Page{Number: 3, Width: 10, Height: 10}),
		w.Block(derived.Block{Block: extract.Block{Kind: extract.Heading, Level: 2, Text: "Ducks"}}),
		w.Block(derived.Block{Block: extract.Block{Kind: extract.TableKind, Table: table}}),
		w.Block(derived.Block{Block: extract.Block{Kind: extract.TableKind, Table: more}}),
		w.Page(derived.Page{Number: 4}),
		w.Close(derived.Tail{Pages: 4, MeanConfidence: new(0.8), Unread: []int{2}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestText(t *testing.T) {
	t.Parallel()
	want := "Two " + hostile + " below\n\f\fDucks\n\nh\ti j\n1\t2\n3\t4\n\f\f"
	if got := write(t, derived.Text); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := write(t, derived.Markdown)
	for _, want := range []string{
		"<!-- page 1 -->\n\nTwo a &lt;b> &amp;",
		"\n\n<!-- page 2 unread: it broke - - off -->\n\n<!-- page 3 -->\n\n## Ducks\n\n| h | i j |\n| - | - |\n| 1 " +
			"| 2 |\n| 3 | 4 |\n\n<!-- page 4 -->\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var doc struct {
		SchemaVersion  int `json:"schema_version"`
		Filename       string
		Languages      []string
		PageCount      int     `json:"page_count"`
		MeanConfidence float64 `json:"mean_confidence"`
		UnreadPages    []int   `json:"unread_pages"`
		Pages          []struct {
			Page, Rotation int
			Unread         string
			Confidence     *float64
			Blocks         []struct {
				Type, Text string
				Box        *extract.Box
				Confidence *float64
				Table      *extract.Table
				Lines      []struct {
					Text  string
					Words []struct{ Text string }
				}
			}
		}
	}
	text := write(t, derived.JSON)
	in := json.NewDecoder(strings.NewReader(text))
	if err := in.Decode(&doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		t.Error("more than one value")
	}
	first, third := doc.Pages[0], doc.Pages[2]
	if doc.SchemaVersion != 1 || doc.Filename != head().Filename || len(doc.Languages) != 2 || doc.PageCount != 4 ||
		doc.MeanConfidence != 0.8 || doc.UnreadPages[0] != 2 ||
		len(doc.Pages) != 4 || first.Rotation != 90 || *first.Confidence != 0.8 || doc.Pages[1].Unread == "" ||
		doc.Pages[1].Confidence != nil || len(doc.Pages[3].Blocks) != 0 {
		t.Errorf("%+v", doc)
	}
	if b := first.Blocks[0]; len(b.Lines) != 2 || b.Lines[0].Words[1].Text != hostile || b.Box.Right != 0.5 ||
		*b.Confidence >= 0.9 {
		t.Errorf("%+v", b)
	}
	if len(third.Blocks) != 3 || third.Blocks[0].Type != "heading" || third.Blocks[1].Table.Rows[1][1].Text != "2" ||
		third.Blocks[0].Confidence != nil {
		t.Errorf("%+v", third)
	}
	var empty bytes.Buffer
	if err := derived.NewWriter(&empty, derived.JSON, head()).Close(derived.Tail{}); err != nil ||
		!json.Valid(empty.Bytes()) || !strings.Contains(empty.String(), `"unread_pages":[]`) {
		t.Errorf("%s %v", empty.String(), err)
	}
}

func TestHOCR(t *testing.T) {
	t.Parallel()
	text := write(t, derived.HOCR)
	in := xml.NewDecoder(strings.NewReader(text))
	ids := map[string]bool{}
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if start, ok := token.(xml.StartElement); ok {
			for _, a := range start.Attr {
				if a.Name.Local == "id" && ids[a.Value] {
					t.Errorf("two elements of the id %s", a.Value)
				}
				ids[a.Value] = true
			}
		}
	}
	for _, want := range []string{
		`<meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_par ocr_line ocrx_word ocrp_wconf"/>`,
		`<meta name="ocr-langs" content="eng deu"/>`, `<meta name="ocr-system" content="tesseract 5.3.0"/>`,
		`<div class="ocr_page" id="page_1" title="image &#34;in/&#39;scan&#39; &lt;1&gt;.pdf&#34;; bbox 0 0 1000 2000; ppageno 0; scan_res 300 300">`,
		`<span class="ocr_line" id="line_1_1" title="bbox 100 200 500 300; textangle 90">`,
		`<span class="ocrx_word" id="word_1_1" title="bbox 100 200 200 300; x_wconf 90">Two</span>`,
		"<!-- unread: it broke - - off -->", `<span class="ocr_line" id="line_3_1">Ducks</span>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range derived.Formats() {
		if !f.Known() || !strings.HasPrefix(f.Extension(), ".") || f.ContentType() == "" || seen[f.Extension()] {
			t.Errorf("%s: %s %s", f, f.Extension(), f.ContentType())
		}
		seen[f.Extension()] = true
	}
	if derived.Format("alto").Known() {
		t.Error("alto is known")
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// A full disk is reported, at the latest by Close.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, f := range derived.Formats() {
		w := derived.NewWriter(full{}, f, head())
		err := w.Page(derived.Page{Number: 1})
		if e := w.Close(derived.Tail{}); err == nil {
			err = e
		}
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f, err)
		}
	}
}
