package printer_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/deck/fonts"
	"github.com/seed-7227ef26/async-worker/internal/deck/printer"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestUnfit: a file whose table does not fit a slide in any size has a warning that says so.
func TestUnfit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"short": false, strings.Repeat("word ", 4000): true} {
		d := deck.New("d")
		table := &deck.Table{Columns: []int64{2_000_000}, Rows: []deck.Row{{Cells: []deck.Cell{{Text: *deck.Lines(text)}}}}}
		d.Slides = []deck.Slide{{Layout: "content", Elements: []deck.Element{
			{Kind: deck.TableElement, Table: table, Box: &deck.Box{X: 500_000, Y: 1_500_000, W: 2_000_000, H: 100}},
		}}}
		r, err := printer.PPTX(t.Context(), printer.Job{Deck: d}, filepath.Join(t.TempDir(), "d.pptx"))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "higher than a slide") }); got != want {
			t.Errorf("a text of %d bytes has the warnings %q", len(text), r.Warnings)
		}
	}
}

// TestNoFonts: fonts are looked for once, so one that is installed is found after a restart.
func TestNoFonts(t *testing.T) {
	t.Parallel()
	_, err := printer.Native(t.Context(), printer.Job{Deck: deck.New("d")}, fonts.New(t.TempDir()), filepath.Join(t.TempDir(), "d.pdf"))
	if e := taskerr.Classify(err); !strings.HasSuffix(e.Hint, "then restart the worker") ||
		e.Cause == nil || !strings.HasSuffix(e.Cause.Error(), "then restart the worker") {
		t.Errorf("%v, hint %q, cause %v", err, e.Hint, e.Cause)
	}
}

// TestPages: a PDF says where each slide begins, behind one that was divided, too. A hidden one has no page.
func TestPages(t *testing.T) {
	t.Parallel()
	d := decktest.Sample(t)
	d.Slides[1].Elements = []deck.Element{{
		Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: deck.Lines(slices.Repeat([]string{"a line"}, 60)...),
	}}
	r, err := printer.Native(t.Context(), printer.Job{Deck: d, Media: decktest.Media(t)}, fonts.New(), filepath.Join(t.TempDir(), "d.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 2, 0, r.Slides}; r.Slides < 4 || !slices.Equal(r.Pages, want) {
		t.Errorf("%d pages, the slides begin at %v", r.Slides, r.Pages)
	}
}
