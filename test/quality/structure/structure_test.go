package structure_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/test/quality/structure"
)

// The sources of all documents are read without a fault: so they say what they are meant to say.
func TestSourcesAreRead(t *testing.T) {
	t.Parallel()
	reader := extract.NewRouter(native.Extractors(nil, nil))
	for _, d := range structure.Documents(1) {
		t.Run(d.Name(), func(t *testing.T) {
			t.Parallel()
			files, err := structure.Sources(t.TempDir(), d)
			if err != nil {
				t.Fatal(err)
			}
			packages, err := structure.Packages(t.TempDir(), d)
			if err != nil {
				t.Fatal(err)
			}
			results, err := structure.Measure(t.Context(), reader, append(files, packages...))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if r.Err != nil || r.Headings.F1() < 1 || r.Items.F1() < 1 || r.Cells.F1() < 0.97 ||
					r.Shapes.F1() < 1 || r.Links.F1() < 0.97 || r.Words < 0.97 || r.Order < 0.97 {
					t.Errorf("%s: %+v, %v", r.Name(), r.Score, r.Err)
				}
			}
		})
	}
}

// The same seed makes the same documents, another one makes others.
func TestDocumentsAreReproducible(t *testing.T) {
	t.Parallel()
	text := func(seed uint64) (all []string) {
		for _, d := range structure.Documents(seed) {
			all = append(all, structure.HTML(d))
		}
		return all
	}
	if first := text(1); !slices.Equal(first, text(1)) || slices.Equal(first, text(2)) {
		t.Error("the seed doesn't decide which documents are made")
	}
}

// TestMistakesAreSeen: each kind of mistake lowers the figure that is about it, and no other.
func TestMistakesAreSeen(t *testing.T) {
	t.Parallel()
	table := func(rows ...[]extract.Cell) extract.Block {
		return extract.Block{Kind: extract.TableKind, Table: &extract.Table{Rows: rows, Headers: 1}}
	}
	cells := func(texts ...string) (row []extract.Cell) {
		for _, text := range texts {
			row = append(row, extract.Cell{Text: text})
		}
		return row
	}
	want := []extract.Block{
		{Kind: extract.Heading, Level: 2, Text: "Scope"},
		{Kind: extract.Paragraph, Text: "One two three."},
		{Kind: extract.ListItem, Marker: "-", Text: "gloves"},
		table(cells("a", "b"), cells("1", "2")),
	}
	type figures struct{ headings, levels, items, cells, shapes float64 }
	for name, test := range map[string]struct {
		got  []extract.Block
		want figures
	}{
		"no mistake": {want, figures{1, 1, 1, 1, 1}},
		"a wrong level": {
			append([]extract.Block{{Kind: extract.Heading, Level: 3, Text: "Scope"}}, want[1:]...),
			figures{0, 1, 1, 1, 1},
		},
		"a paragraph as a heading": {
			append([]extract.Block{{Kind: extract.Heading, Level: 2, Text: "One two three."}}, want...),
			figures{2.0 / 3, 2.0 / 3, 1, 1, 1},
		},
		"a lost list item": {[]extract.Block{want[0], want[1], want[3]}, figures{1, 1, 0, 1, 1}},
		"merged columns": {
			append(slices.Clone(want[:3]), table(cells("a b"), cells("1 2"))), figures{1, 1, 1, 0, 0},
		},
		"a lost row": {append(slices.Clone(want[:3]), table(cells("a", "b"))), figures{1, 1, 1, 2.0 / 3, 0}},
		"a table in two": {
			append(slices.Clone(want), table(cells("c"))), figures{1, 1, 1, 8.0 / 9, 2.0 / 3},
		},
		"a slice of a table": {
			append(slices.Clone(want[:3]), table(cells("a", "b")), extract.Block{
				Kind: extract.TableKind,
				Table: &extract.Table{
					Headers: 1, Continued: true, Rows: [][]extract.Cell{cells("a", "b"), cells("1", "2")},
				},
			}), figures{1, 1, 1, 1, 1},
		},
	} {
		s := structure.Compare(want, test.got)
		got := figures{s.Headings.F1(), s.Levels.F1(), s.Items.F1(), s.Cells.F1(), s.Shapes.F1()}
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// A word that spans columns and rows is at the place where HTML puts it.
func TestSpans(t *testing.T) {
	t.Parallel()
	d := structure.Documents(1)
	i := slices.IndexFunc(d, func(d *structure.Document) bool { return d.Name() == "merged-en" })
	path := filepath.Join(t.TempDir(), "a.html")
	if err := os.WriteFile(path, []byte(structure.HTML(d[i])), 0o600); err != nil {
		t.Fatal(err)
	}
	results, err := structure.Measure(t.Context(), extract.NewRouter(native.Extractors(nil, nil)),
		[]structure.File{{Document: d[i], Producer: "source", Format: "html", Path: path}})
	if err != nil || results[0].Cells.F1() < 1 {
		t.Errorf("%+v, %v", results, err)
	}
}
