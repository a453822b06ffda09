package pptx_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/deck/printer"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
)

// folder opens the media that were saved in a folder.
func folder(dir string) func(string) (io.ReadCloser, error) {
	return func(key string) (io.ReadCloser, error) { return os.Open(filepath.Join(dir, key)) }
}

// rewrite reads a presentation as a deck, takes that through its JSON, and exports it as another presentation.
func rewrite(t *testing.T, path, to string) *deck.Deck {
	t.Helper()
	dir := t.TempDir()
	d, _, err := pptx.Read(t.Context(), path, pptx.ReadOptions{Name: filepath.Base(path), Folder: dir})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var text bytes.Buffer
	if err := deck.Write(&text, d); err != nil {
		t.Fatal(err)
	}
	if d, err = deck.Read(&text); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		r, err := printer.PPTX(t.Context(), printer.Job{Deck: d, Media: folder(dir)}, to)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		content, err := os.ReadFile(r.Path)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(content)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%s: the same deck yields other bytes", path)
	}
	return d
}

// TestRoundTrip: presentations that others made are the same for python-pptx after they were a deck: size, slides, text
// in its order, levels, links, tables with spans, charts with their data, pictures, notes, alternative texts, places.
// With -v it prints for each file what it has, and which fields differ.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	python := decktest.Python(t)
	made, again := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"testdata/make.py", made, "20"}, {"testdata/hard.py", made}} {
		if out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	files, err := filepath.Glob(filepath.Join(made, "*.pptx"))
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := filepath.Glob("../../../../shared/corpus/documents/*.pptx") // none where there is no corpus
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, corpus...)
	outputs := make([]string, len(files))
	for i, path := range files {
		outputs[i] = filepath.Join(again, filepath.Base(path))
		rewrite(t, path, outputs[i])
	}
	decktest.Audit(t, again)
	before, after := decktest.Oracle(t, files...), decktest.Oracle(t, outputs...)
	var all comparison
	equal := 0
	for i := range files {
		var one comparison
		one.compare(before[i], after[i])
		t.Logf("%-30s %v %d fields differ", filepath.Base(files[i]), one.counts, len(one.differ))
		for _, d := range one.differ {
			t.Errorf("%s, %s", filepath.Base(files[i]), d)
		}
		if len(one.differ) == 0 {
			equal++
		}
		all.add(one)
	}
	t.Logf("%d files (%d of the corpus), %d equal, %d fields differ, %d slides added by the division of overfull ones, of %+v",
		len(files), len(corpus), equal, len(all.differ), all.dividedSlides, all.counts)
}

// counts are the objects of a file.
type counts struct{ Slides, Texts, Links, Tables, Charts, Values, Pictures, Notes, Alts int }

// comparison is what a file has, and what of it another one has not.
type comparison struct {
	counts
	dividedSlides int // that were added
	differ        []string
}

func (c *comparison) add(o comparison) {
	sum, more := reflect.ValueOf(&c.counts).Elem(), reflect.ValueOf(o.counts)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
	c.dividedSlides += o.dividedSlides
	c.differ = append(c.differ, o.differ...)
}

// same notes a difference.
func (c *comparison) same(at, field string, before, after any) {
	if !reflect.DeepEqual(before, after) {
		c.differ = append(c.differ, fmt.Sprintf("%s: %s: %.400q, then %.400q", at, field, fmt.Sprint(before), fmt.Sprint(after)))
	}
}

func (c *comparison) compare(before, after decktest.Presentation) {
	c.same("all", "size", before.Size, after.Size)
	if len(before.Slides) != len(after.Slides) {
		c.divided(before, after)
		return
	}
	for i := range before.Slides {
		b, a := before.Slides[i], after.Slides[i]
		at := fmt.Sprintf("slide %d", i+1)
		c.same(at, "title", b.Title, a.Title)
		c.same(at, "hidden", b.Hidden, a.Hidden)
		c.same(at, "notes", strings.ReplaceAll(b.Notes, "\v", "\n"), a.Notes) // lines of notes are lines
		c.same(at, "layout", b.Layout, a.Layout)
		c.Slides++
		c.Notes += min(len(b.Notes), 1)
		shapes, others := visible(b.Shapes), visible(a.Shapes)
		if len(shapes) != len(others) {
			c.same(at, "shapes", names(shapes), names(others))
			continue
		}
		for k := range shapes {
			c.shape(at+", "+shapes[k].Name, shapes[k], others[k])
		}
	}
}

// divided compares the words of a file whose overfull slides have become several: each text and each table goes on under
// its name, and a table repeats its header.
func (c *comparison) divided(before, after decktest.Presentation) {
	c.dividedSlides = len(after.Slides) - len(before.Slides)
	k := 0
	for i, b := range before.Slides {
		at := fmt.Sprintf("slide %d", i+1)
		want, got := words(b), map[string]string{}
		for n := 0; k < len(after.Slides); n++ {
			a := after.Slides[k]
			part := strings.HasPrefix(a.Title, b.Title+" (") && strings.Contains(a.Title, fmt.Sprintf("(%d/", n+1))
			if !part && (n > 0 || a.Title != b.Title) {
				break
			}
			for name, text := range words(a) {
				got[name] += text
			}
			c.same(at, "notes", b.Notes, a.Notes)
			if k++; !part {
				break
			}
		}
		c.same(at, "words", want, got)
		c.Slides++
	}
	c.same("all", "slides that belong to none", k, len(after.Slides))
}

// words are the words of a slide's texts and tables by their names, without the title and the headers of tables.
func words(s decktest.Slide) map[string]string {
	all := map[string]string{}
	for _, shape := range s.Shapes {
		if shape.Text != "" && !strings.HasPrefix(shape.Text, s.Title) {
			all[shape.Name] += strings.Join(strings.Fields(shape.Text), "") // a text may be torn at a space
		}
		for _, row := range shape.Table[min(len(shape.Table), 1):] {
			for _, cell := range row {
				all[shape.Name] += cell.Text + "|"
			}
		}
	}
	return all
}

func names(all []decktest.Shape) (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// visible leaves out what shows nothing: empty placeholders, and boxes of nothing but spaces.
func visible(all []decktest.Shape) []decktest.Shape {
	return slices.DeleteFunc(all, func(s decktest.Shape) bool {
		empty := s.Text == "" && s.Table == nil && s.Chart == nil && s.Picture == ""
		return empty && (strings.Contains(s.Name, "Placeholder") || strings.HasPrefix(s.Name, "Title") || strings.HasPrefix(s.Name, "Subtitle") ||
			strings.HasPrefix(s.Name, "TextBox"))
	})
}

func (c *comparison) shape(at string, b, a decktest.Shape) {
	c.same(at, "name", b.Name, a.Name)
	c.same(at, "alternative text", b.Alt, a.Alt)
	c.same(at, "text", strings.TrimRight(b.Text, "\n"), strings.TrimRight(a.Text, "\n"))
	c.same(at, "levels", b.Levels, a.Levels)
	c.same(at, "links", joined(b.Links), joined(a.Links))
	c.same(at, "click", b.Click, a.Click)
	c.same(at, "right to left", b.RTL, a.RTL)
	c.same(at, "picture", b.Picture, a.Picture)
	c.same(at, "table", b.Table, a.Table)
	if !b.Grouped { // groups are taken apart: their children have places of their own
		c.same(at, "place", place(b), place(a))
		c.same(at, "turned", [3]any{b.Rotation, b.FlipH, b.FlipV}, [3]any{a.Rotation, a.FlipH, a.FlipV})
	}
	c.same(at, "crop", b.Crop, a.Crop)
	flattened(b.Chart, a.Chart)
	c.same(at, "chart", b.Chart, a.Chart)
	c.Texts += min(len(b.Text), 1)
	c.Links += len(joined(b.Links))
	c.Alts += min(len(b.Alt), 1)
	c.Pictures += min(len(b.Picture), 1)
	c.Tables += min(len(b.Table), 1)
	if b.Chart == nil {
		return
	}
	c.Charts++
	for _, p := range b.Chart.Plots {
		for _, s := range p.Series {
			c.Values += len(s.Values)
		}
	}
}

// flattened takes the look from plots that had depth, of which the oracle has none: they are kept flat.
func flattened(b, a *decktest.ReadChart) {
	if b == nil || a == nil || len(b.Plots) != len(a.Plots) {
		return
	}
	for i := range b.Plots {
		if b.Plots[i].Look == nil {
			a.Plots[i].Look = nil
			for k := range a.Plots[i].Series {
				a.Plots[i].Series[k].Look = nil
			}
		}
	}
}

func place(s decktest.Shape) (box [4]int64) {
	for i, v := range s.Box {
		if v != nil {
			box[i] = *v
		}
	}
	return box
}

// joined joins neighbouring runs of one link.
func joined(links [][2]string) [][2]string {
	var out [][2]string
	for _, l := range links {
		if n := len(out); n > 0 && out[n-1][1] == l[1] {
			out[n-1][0] += l[0]
			continue
		}
		out = append(out, l)
	}
	return out
}

// TestPythonReadsAll: python-pptx reads back what a deck of ours has, for every kind of chart.
func TestPythonReadsAll(t *testing.T) {
	t.Parallel()
	decktest.Python(t)
	d := decktest.Sample(t)
	kinds := []deck.ChartKind{
		deck.BarChart, deck.ColumnChart, deck.LineChart, deck.AreaChart, deck.PieChart, deck.DoughnutChart, deck.ScatterChart,
		deck.BubbleChart, deck.RadarChart,
	}
	first := len(d.Slides)
	for _, k := range kinds {
		d.Slides = append(d.Slides, deck.Slide{Layout: "title_only", Title: string(k), Elements: []deck.Element{
			{Kind: deck.ChartElement, Box: &deck.Box{X: 500000, Y: 1500000, W: 8000000, H: 4000000}, Chart: decktest.Chart(k)},
		}})
	}
	path := filepath.Join(t.TempDir(), "sample.pptx")
	if err := os.WriteFile(path, decktest.PPTX(t, d), 0o600); err != nil {
		t.Fatal(err)
	}
	decktest.Audit(t, filepath.Dir(path))
	p := decktest.Oracle(t, path)[0]
	if len(p.Slides) != len(d.Slides) {
		t.Fatalf("%d slides", len(p.Slides))
	}
	for i, s := range d.Slides {
		if got := p.Slides[i]; got.Title != s.Title || got.Notes != s.Notes || got.Hidden != s.Hidden {
			t.Errorf("slide %d: %+v", i+1, got)
		}
	}
	body := p.Slides[1].Shapes[1]
	if want := d.Slides[1].Elements[1].Text.Plain(); strings.ReplaceAll(body.Text, "\v", "\n") != want ||
		!slices.Equal(body.Levels, []int{0, 1, 1, 0, 0, 0}) ||
		!reflect.DeepEqual(body.Links, [][2]string{{"the report", "https://example.org/report?a=1&b=2"}, {"fees", "slide3.xml"}}) {
		t.Errorf("%+v", body)
	}
	table := p.Slides[2].Shapes[1]
	if table.Alt != "Fees by length" || table.Table[0][0].Span != [2]int{1, 2} || !table.Table[0][1].Spanned ||
		table.Table[1][0].Span != [2]int{2, 1} || table.Table[2][2].Text != "240" {
		t.Errorf("%+v", table)
	}
	for i, k := range kinds {
		c := p.Slides[first+i].Shapes[1].Chart
		want := decktest.Chart(k)
		if c == nil || c.Title != want.Title || !c.Workbook || len(c.Plots[0].Series) != len(want.Series) {
			t.Errorf("%s: %+v", k, c)
			continue
		}
		for n, s := range c.Plots[0].Series {
			if s.Name != want.Series[n].Name || !reflect.DeepEqual(s.Values, want.Series[n].Values) {
				t.Errorf("%s: %+v", k, s)
			}
		}
	}
}

// TestLibreOffice: LibreOffice prints what we write: a page for each slide that is not hidden.
func TestLibreOffice(t *testing.T) {
	t.Parallel()
	if err := soffice.Prints(); err != nil {
		t.Skip(err)
	}
	d := decktest.Sample(t)
	path := filepath.Join(t.TempDir(), "sample.pptx")
	content := decktest.PPTX(t, d)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	printed, err := soffice.Print(t.Context(), path, int64(len(content)), extract.Limits{}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "pdftotext", "-layout", printed, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Split(strings.TrimRight(string(out), "\f"), "\f")
	if len(pages) != len(d.Slides)-1 || !strings.Contains(pages[1], "Dredged the south basin") || !strings.Contains(pages[2], "Ships by month") {
		t.Errorf("%d pages:\n%s", len(pages), out)
	}
}
