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
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
)

// folder opens the media that were saved in a folder.
func folder(dir string) func(string) (io.ReadCloser, error) {
	return func(key string) (io.ReadCloser, error) { return os.Open(filepath.Join(dir, key)) }
}

// rewrite reads a presentation as a deck, takes that through its JSON, and writes it as another presentation.
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
		if _, err := pptx.Write(t.Context(), out, d, pptx.WriteOptions{Media: folder(dir)}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("%s: the same deck yields other bytes", path)
	}
	if err := os.WriteFile(to, first.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRoundTrip: presentations that others made are the same for python-pptx after they were a deck: size, slides, text
// in its order, levels, links, tables with spans, charts with their data, pictures, notes, alternative texts.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	python := decktest.Python(t)
	made, again := t.TempDir(), t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/make.py", made, "20").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
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
	before, after := decktest.Oracle(t, files...), decktest.Oracle(t, outputs...)
	var c counts
	for i := range files {
		c.compare(t, filepath.Base(files[i]), before[i], after[i])
	}
	t.Logf("%d files (%d of the corpus): %+v", len(files), len(corpus), c)
}

// counts are the equal objects of all files.
type counts struct{ Slides, Texts, Links, Tables, Charts, Values, Pictures, Notes, Alts int }

func (c *counts) compare(t *testing.T, name string, before, after decktest.Presentation) {
	t.Helper()
	if before.Size != after.Size || len(before.Slides) != len(after.Slides) {
		t.Errorf("%s: %v and %d slides, then %v and %d", name, before.Size, len(before.Slides), after.Size, len(after.Slides))
		return
	}
	for i := range before.Slides {
		b, a := before.Slides[i], after.Slides[i]
		at := fmt.Sprintf("%s, slide %d", name, i+1)
		if b.Title != a.Title || b.Hidden != a.Hidden || b.Notes != a.Notes || b.Layout != a.Layout {
			t.Errorf("%s: %q %q, then %q %q", at, b.Title, b.Notes, a.Title, a.Notes)
		}
		c.Slides++
		if b.Notes != "" {
			c.Notes++
		}
		shapes, others := visible(b.Shapes), visible(a.Shapes)
		if len(shapes) != len(others) {
			t.Errorf("%s: %d shapes, then %d", at, len(shapes), len(others))
			continue
		}
		for k := range shapes {
			c.shape(t, fmt.Sprintf("%s, %s", at, shapes[k].Name), shapes[k], others[k])
		}
	}
}

// visible leaves out shapes that show nothing: empty placeholders.
func visible(all []decktest.Shape) []decktest.Shape {
	return slices.DeleteFunc(all, func(s decktest.Shape) bool {
		return s.Text == "" && s.Table == nil && s.Chart == nil && s.Picture == "" && strings.Contains(s.Name, "Placeholder") ||
			strings.HasPrefix(s.Name, "Title") && s.Text == ""
	})
}

func (c *counts) shape(t *testing.T, at string, b, a decktest.Shape) {
	t.Helper()
	for k := range b.Box { // groups are taken apart: their children have places of their own
		if b.Box[k] != nil && a.Box[k] == nil {
			t.Errorf("%s: it has lost its place", at)
		}
	}
	if b.Name != a.Name || b.Alt != a.Alt || strings.TrimRight(b.Text, "\n") != strings.TrimRight(a.Text, "\n") ||
		!slices.Equal(b.Levels, a.Levels) || !reflect.DeepEqual(joined(b.Links), joined(a.Links)) || b.Picture != a.Picture {
		t.Errorf("%s:\n%+v\n%+v", at, b, a)
	}
	c.Texts += min(len(b.Text), 1)
	c.Links += len(joined(b.Links))
	c.Alts += min(len(b.Alt), 1)
	c.Pictures += min(len(b.Picture), 1)
	if !reflect.DeepEqual(b.Table, a.Table) {
		t.Errorf("%s:\n%+v\n%+v", at, b.Table, a.Table)
	}
	c.Tables += min(len(b.Table), 1)
	if (b.Chart == nil) != (a.Chart == nil) {
		t.Errorf("%s: the chart is lost", at)
	} else if b.Chart != nil {
		c.Charts++
		if !reflect.DeepEqual(b.Chart, a.Chart) {
			t.Errorf("%s:\n%+v\n%+v", at, b.Chart, a.Chart)
		}
		for _, p := range b.Chart.Plots {
			for _, s := range p.Series {
				c.Values += len(s.Values)
			}
		}
	}
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
