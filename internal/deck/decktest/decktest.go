// Package decktest makes decks for tests.
package decktest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

// Picture is the one picture of Sample: its bytes, and its key.
func Picture(t testing.TB) (data []byte, key string) {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	for x := range 64 {
		img.Set(x, 24, color.RGBA{0xE0, 0x7A, 0x1F, 0xFF})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(out.Bytes())
	return out.Bytes(), hex.EncodeToString(sum[:])
}

// Media opens Sample's picture.
func Media(t testing.TB) func(string) (io.ReadCloser, error) {
	data, _ := Picture(t)
	return func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
}

// Sample is a deck with everything that a slide may have.
func Sample(t testing.TB) *deck.Deck {
	t.Helper()
	data, key := Picture(t)
	d := deck.New("Southhaven Harbour")
	d.Language, d.Author = "en-GB", "The harbour office"
	d.Media = map[string]deck.Media{key: {Type: "image/png", Bytes: int64(len(data)), Width: 64, Height: 48}}
	title := func(text string) deck.Element {
		return deck.Element{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines(text)}
	}
	d.Slides = []deck.Slide{
		{
			Layout: "title", Title: "Southhaven Harbour", Notes: "Welcome everybody.\nThen begin.", Elements: []deck.Element{
				title("Southhaven Harbour"),
				{Kind: deck.TextElement, Role: deck.SubtitleRole, Index: 1, Text: deck.Lines("The year in figures", "2026")},
			},
		},
		{
			Layout: "content", Title: "What we did", Elements: []deck.Element{
				title("What we did"),
				{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: list()},
			},
		},
		{
			Layout: "title_only", Title: "Berths & fees <2026>", Hidden: true, Elements: []deck.Element{
				title("Berths & fees <2026>"),
				{
					Kind: deck.TableElement, Alt: "Fees by length", Box: &deck.Box{X: 548640, Y: 1600000, W: 6000000, H: 1500000}, Table: table(),
				},
				{
					Kind: deck.PictureElement, Alt: "A quay", Box: &deck.Box{X: 7500000, Y: 1600000, W: 2400000, H: 1800000},
					Picture: &deck.Picture{Media: key, Crop: &deck.Crop{Left: 0.1, Bottom: 0.25}}, Link: "https://example.org/quay",
				},
				{
					Kind: deck.ShapeElement, Name: "Note", Box: &deck.Box{X: 7500000, Y: 3800000, W: 2400000, H: 900000},
					Shape: &deck.Shape{Geometry: "roundRect", Fill: "accent3", Line: "#102030", LineWidth: 19050},
					Text:  &deck.Text{Anchor: deck.AnchorMiddle, Paragraphs: []deck.Paragraph{{Align: deck.AlignCenter, Runs: []deck.Run{{Text: "Paid in advance", Color: "light1"}}}}},
				},
			},
		},
		{
			Layout: "title_only", Title: "Ships", Notes: "Source: report.pdf, page 3", Elements: []deck.Element{
				title("Ships"),
				{Kind: deck.ChartElement, Alt: "Ships by month", Box: &deck.Box{X: 548640, Y: 1600000, W: 8000000, H: 4200000}, Chart: Chart(deck.ColumnChart)},
			},
		},
	}
	return d
}

func list() *deck.Text {
	item := func(level int, text string) deck.Paragraph {
		return deck.Paragraph{Level: level, Runs: []deck.Run{{Text: text}}}
	}
	return &deck.Text{Paragraphs: []deck.Paragraph{
		item(0, "Dredged the south basin"), item(1, "to eleven metres"), item(1, "in six weeks"),
		{Runs: []deck.Run{
			{Text: "See "},
			{Text: "the report", Link: "https://example.org/report?a=1&b=2", Bold: new(true)},
			{Text: ",\nor the "},
			{Text: "fees", Link: "#slide3", Italic: new(true), Size: 24, Color: "accent2"},
			{Text: "."},
		}},
		{List: &deck.List{Kind: deck.NumberList, Scheme: "romanLcPeriod", Start: 3}, Runs: []deck.Run{{Text: "Numbered"}}},
		{List: &deck.List{Kind: deck.NoList}, Runs: []deck.Run{{Text: "Plain ≥ 5 µm, CO"}, {Text: "2", Baseline: -25}}},
	}}
}

func table() *deck.Table {
	cell := func(text string) deck.Cell { return deck.Cell{Text: *deck.Lines(text)} }
	wide := cell("Length of the ship")
	wide.ColSpan = 2
	tall := cell("North")
	tall.RowSpan = 2
	return &deck.Table{
		Columns: []int64{2000000, 2000000, 2000000}, Headers: 1, Banded: true,
		Rows: []deck.Row{
			{Height: 370000, Cells: []deck.Cell{wide, cell("Fee")}},
			{Height: 370000, Cells: []deck.Cell{tall, cell("to 24 m"), cell("95")}},
			{Height: 370000, Cells: []deck.Cell{cell("to 60 m"), cell("240")}},
		},
	}
}

// Chart is a chart of a kind with two series, one of which lacks a value.
func Chart(kind deck.ChartKind) *deck.Chart {
	values := func(all ...float64) []*float64 {
		out := make([]*float64, len(all))
		for i := range all {
			out[i] = &all[i]
		}
		return out
	}
	c := &deck.Chart{
		Kind: kind, Title: "Ships by month", Legend: deck.LegendBottom, Categories: []string{"Jan", "Feb", "Mär"},
		Format: "0.0", XTitle: "Month", YTitle: "Ships",
		Series: []deck.Series{{Name: "Cargo", Values: values(12, 7.5, 9)}, {Name: "Fishing & more", Values: values(30, 28, 0.125)}},
	}
	if kind == deck.PieChart || kind == deck.DoughnutChart {
		c.Series = c.Series[:1]
	} else {
		c.Series[1].Values[1] = nil
	}
	if kind == deck.ScatterChart || kind == deck.BubbleChart {
		c.Categories = nil
		for i := range c.Series {
			c.Series[i].X = values(1, 2.5, 4)
			c.Series[i].Values = values(3, float64(i)+1, 5)
		}
	}
	if kind == deck.BubbleChart {
		for i := range c.Series {
			c.Series[i].Sizes = values(1, 5, 10)
		}
	}
	return c
}

// PPTX writes a deck as a presentation of its own layouts.
func PPTX(t testing.TB, d *deck.Deck) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := pptx.Write(t.Context(), &out, d, pptx.WriteOptions{Media: Media(t)}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// LostWords are words of a PDF file that no slide of its deck has.
func LostWords(t testing.TB, path string, d *deck.Deck) []string {
	t.Helper()
	src, err := extract.Open(path, path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := extract.Collect(t.Context(), extract.NewRouter(native.Extractors(pdf.New(), nil)), src, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for word := range strings.FieldsSeq(Text(d)) {
		there[word]++
	}
	var lost []string
	for _, b := range doc.Blocks {
		text := b.Text
		if b.Table != nil {
			text = ""
			for _, row := range b.Table.Rows {
				for _, cell := range row {
					text += " " + cell.Text
				}
			}
		}
		for word := range strings.FieldsSeq(text) {
			if there[word]--; there[word] < 0 {
				lost = append(lost, word)
			}
		}
	}
	return lost
}

// Text is all text of a deck's slides, with lines between paragraphs.
func Text(d *deck.Deck) string {
	var out strings.Builder
	for _, s := range d.Slides {
		for _, e := range s.Elements {
			if e.Text != nil {
				out.WriteString(e.Text.Plain() + "\n")
			}
			if e.Table != nil {
				for _, r := range e.Table.Rows {
					for _, c := range r.Cells {
						out.WriteString(c.Text.Plain() + "\n")
					}
				}
			}
		}
	}
	return out.String()
}

// Read reads a presentation, and all its text.
func Read(t testing.TB, data []byte) (d *deck.Deck, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deck.pptx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	d, _, err := pptx.Read(t.Context(), path, pptx.ReadOptions{Name: "deck.pptx", Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return d, Text(d)
}
