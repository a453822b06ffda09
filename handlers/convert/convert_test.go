package convert_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

var errNoOCR = errors.New("there is no OCR in this test")

func deps(b *handlertest.Bench) convert.Deps {
	return convert.Deps{
		Bucket: b.Bucket, Store: b.Store, Fonts: fonts.New(), TempDir: b.Temp, Limits: extract.DefaultLimits,
		Extractor: extract.NewRouter(native.Extractors(scan.Without(pdf.New(), errNoOCR, scan.Options{}), scan.ImagesWithout(errNoOCR))),
	}
}

// names are the blobs in the bucket.
func names(b *handlertest.Bench) []string {
	b.Helper()
	var all []string
	if err := filepath.WalkDir(b.Blobs, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(b.Blobs, path)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func converted(b *handlertest.Bench, d convert.Deps, payload string) (convert.Result, *deck.Deck) {
	b.Helper()
	call := b.Begin(payload, task.Hints{})
	out, err := convert.New(d).Handle(b.Context(), call)
	if err != nil {
		b.Fatal(err)
	}
	var r convert.Result
	b.Complete(call, out, &r)
	got, err := deck.Read(strings.NewReader(b.Get(r.ResultPath)))
	if err != nil {
		b.Fatal(err)
	}
	if p := call.Progress.(*handlertest.Progress); strings.Join(p.Stages, " ") !=
		"validating_input fetching_source extracting normalizing generating_preview finalizing" {
		b.Errorf("stages %v", p.Stages)
	}
	return r, got
}

// TestPresentation: a presentation keeps its slides, its pictures are blobs, and a preview shows them.
func TestPresentation(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("in/talk.pptx", string(decktest.PPTX(t, decktest.Sample(t))))
	r, d := converted(b, deps(b), `{"filename":"talk.pptx","blob":"in/talk.pptx"}`)
	if r.DeckID != d.ID || r.ResultPath != "decks/"+d.ID+".json" || r.Slides != len(d.Slides) || r.Slides < 4 ||
		r.Title != "Southhaven Harbour" || r.SourceFormat != extract.PPTX || r.Pictures != 1 {
		t.Errorf("%+v", r)
	}
	for key, m := range d.Media {
		if got := b.Get(m.Blob); int64(len(got)) != m.Bytes || m.Blob != "decks/"+d.ID+"/media/"+key+".png" {
			t.Errorf("%+v has %d bytes", m, len(got))
		}
	}
	sheet, err := png.Decode(strings.NewReader(b.Get(r.PreviewPath)))
	if err != nil || sheet.Bounds().Dx() < 640 {
		t.Errorf("the preview: %v, warnings %q", err, r.Warnings)
	}
	if got := names(b); len(got) != 1+1+1+1+r.Slides {
		t.Errorf("blobs %v", got)
	}
	row, err := b.Store.DeckRow(t.Context(), r.DeckID)
	if err != nil || row.Title != r.Title || row.Slides != r.Slides || row.SourceFilename != "talk.pptx" ||
		row.PreviewBlob != r.PreviewPath || len(row.SourceSHA256) != 64 {
		t.Errorf("%+v, %v", row, err)
	}
}

// TestPreviewOfDividedSlide: a slide that is divided where it is drawn has one picture, and those behind it have their own
// numbers.
func TestPreviewOfDividedSlide(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	preview := func(name string, d *deck.Deck) (pictures []string, sheet string) {
		b.Put(name, string(decktest.PPTX(t, d)))
		before := len(names(b))
		r, _ := converted(b, deps(b), `{"filename":"`+name+`"}`)
		for i := range r.Slides {
			pictures = append(pictures, b.Get(fmt.Sprintf("decks/%s/preview/%03d.png", r.DeckID, i+1)))
		}
		if got := names(b); len(got) != before+1+1+r.Pictures+r.Slides || len(r.Warnings) > 0 {
			t.Errorf("%s: blobs %v, warnings %q", name, got, r.Warnings)
		}
		return pictures, b.Get(r.PreviewPath)
	}
	plain, plainSheet := preview("plain.pptx", decktest.Sample(t))
	long := decktest.Sample(t)
	rows := make([]deck.Row, 80)
	for i := range rows {
		rows[i] = deck.Row{Height: 370000, Cells: []deck.Cell{{Text: *deck.Lines(fmt.Sprint("row ", i))}}}
	}
	long.Slides[1].Elements = append(long.Slides[1].Elements[:1], deck.Element{
		Kind: deck.TableElement, Box: &deck.Box{X: 548640, Y: 1600000, W: 6000000, H: 1500000},
		Table: &deck.Table{Columns: []int64{6000000}, Rows: rows},
	})
	divided, dividedSheet := preview("long.pptx", long)
	for i := range plain {
		if same := divided[i] == plain[i]; same == (i == 1) {
			t.Errorf("picture %d is the same with the table on slide 2: %t", i+1, same)
		}
	}
	size := func(sheet string) image.Rectangle {
		img, err := png.Decode(strings.NewReader(sheet))
		if err != nil {
			t.Fatal(err)
		}
		return img.Bounds()
	}
	if size(plainSheet) != size(dividedSheet) {
		t.Errorf("the sheet is %v, and %v with a divided slide", size(plainSheet), size(dividedSheet))
	}
}

// TestDocument: a document becomes slides along its structure, whose notes name the pages that they are from, and no
// word of it is lost.
func TestDocument(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	content, err := os.ReadFile("../../dev/samples/harbour-handbook.pdf")
	if err != nil {
		t.Fatal(err)
	}
	b.Put("handbook.pdf", string(content))
	_, d := converted(b, deps(b), `{"filename":"handbook.pdf"}`)
	tables := 0
	for i, s := range d.Slides {
		if !strings.HasPrefix(s.Notes, "Source: handbook.pdf, page") || s.Source == nil || s.Source.Page == 0 {
			t.Errorf("slide %d, %q, is from %+v: notes %q", i+1, s.Title, s.Source, s.Notes)
		}
		for _, e := range s.Elements {
			if e.Kind == deck.TableElement {
				tables++
			}
		}
	}
	if d.Slides[0].Layout != "title" || d.Title != "Southhaven Harbour Handbook" || tables == 0 || len(d.Slides) < 15 {
		t.Errorf("%d slides, %d tables, title %q", len(d.Slides), tables, d.Title)
	}
	lost := decktest.LostWords(t, "../../dev/samples/harbour-handbook.pdf", d)
	if len(lost) > 0 {
		t.Errorf("lost words: %.300q", lost)
	}
}

// TestRefuses: what can't be converted ends in one clear error, and leaves nothing.
func TestRefuses(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	whole := decktest.PPTX(t, decktest.Sample(t))
	b.Put("cut.pptx", string(whole[:len(whole)/2]))
	b.Put("empty.pptx", string(decktest.PPTX(t, deck.New("nothing"))))
	b.Put("bin.pptx", "\x00\x01\x02\x03\xff\xfe\xfd")
	b.Put("blank.md", "\n\n")
	b.Put("cells.csv", "a,b,c,d,e\n"+strings.Repeat("1,2,3,4,5\n", 40_000))
	b.Put("tables.csv", "a,b,c,d,e\n"+strings.Repeat("1,2,3,4,5\n", 39_990)) // their headers are repeated
	before := names(b)
	for name, class := range map[string]taskerr.Class{
		"cut.pptx": taskerr.CorruptionDetected, "empty.pptx": taskerr.ContentMissing, "bin.pptx": taskerr.UnsupportedFormat,
		"blank.md": taskerr.ContentMissing, "gone.pptx": taskerr.ContentMissing,
		"cells.csv": taskerr.QuotaExceeded, "tables.csv": taskerr.QuotaExceeded,
	} {
		_, err := convert.New(deps(b)).Handle(t.Context(), b.Begin(`{"filename":"`+name+`"}`, task.Hints{}))
		if got := taskerr.Classify(err); err == nil || got.Class != class || got.Message == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.CheckTemp()
	if after := names(b); !slices.Equal(before, after) {
		t.Errorf("blobs are left: %v", after)
	}
	for _, payload := range []string{`{}`, `{"filename":"../x"}`, `{"filename":"a","blob":"/b"}`, `{"filename":7}`} {
		err := convert.New(convert.Deps{}).Check(task.Task{Payload: json.RawMessage(payload)})
		if err == nil || taskerr.Classify(err).Class != taskerr.ValidationError {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

// TestDeckIsValid: the deck's JSON is what the published schema says.
func TestDeckIsCanonical(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("a.md", "# Berths\n\nNine berths.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
	r, d := converted(b, deps(b), `{"filename":"a.md"}`)
	var again bytes.Buffer
	if err := deck.Write(&again, d); err != nil || again.String() != b.Get(r.ResultPath) {
		t.Error("the JSON changes when it is read and written")
	}
}
