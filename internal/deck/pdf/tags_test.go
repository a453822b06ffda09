package pdf_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
)

// TestTags: poppler reads the structure of a deck with everything: headings by the levels of the bookmarks, lists in
// lists, tables with their headers, links in their paragraphs, figures; all in reading order.
func TestTags(t *testing.T) {
	t.Parallel()
	d := decktest.Sample(t)
	for i := range d.Slides {
		d.Slides[i].Hidden = false
	}
	d.Slides = append([]deck.Slide{{Layout: "section", Title: "Fees & fines"}}, d.Slides...)
	d.Slides[3].Elements[2].Z = -1 // it is drawn first, and read where it is
	content := write(t, d)
	if again := write(t, d); !bytes.Equal(content, again) {
		t.Error("the same deck yields other bytes")
	}
	const want = `
Document
 Sect
  H1 "Fees & fines"
 Sect
  H1 "Southhaven Harbour"
  P "The year in figures"
  P "2026"
 Sect
  H2 "What we did"
  L
   LI
    Lbl "•"
    LBody "Dredged the south basin"
     L
      LI
       Lbl "–"
       LBody "to eleven metres"
      LI
       Lbl "–"
       LBody "in six weeks"
   LI
    Lbl "•"
    LBody "See "
     Link "the report" ", or the "
     Link "fees" "."
   LI
    Lbl "iii."
    LBody "Numbered"
  P "Plain ≥ 5 µm, CO2"
 Sect
  H2 "Berths & fees <2026>"
  Table
   TR
    TH ColSpan 2
     P "Length of the ship"
    TH
     P "Fee"
   TR
    TD RowSpan 2
     P "North"
    TD
     P "to 24 m"
    TD
     P "95"
   TR
    TD
     P "to 60 m"
    TD
     P "240"
  Link
   Figure ""
  P "Paid in advance"
 Sect
  H2 "Ships"
  Figure "Ships by monthCargoFishing & moreShipsMonth0.010.020.030.0JanFebMär"
`
	if got := structure(t, content); got != strings.TrimSpace(want) {
		t.Errorf("the structure is\n%s", got)
	}
	for _, alt := range []string{"A quay", "Ships by month"} {
		if !strings.Contains(objects(t, content), `"/Alt": "u:`+alt+`"`) {
			t.Errorf("no figure has the alternative text %q", alt)
		}
	}
}

// TestAccessible: pdfua finds nothing in a deck with everything.
func TestAccessible(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deck.pdf")
	if err := os.WriteFile(path, write(t, decktest.Sample(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	decktest.Accessible(t, path)
}

// TestTagsOfText: words of two lines stay two words; text from right to left, and characters that no font has, are read
// as they were written; other languages are named; footers and what all slides have in common are decoration.
func TestTagsOfText(t *testing.T) {
	t.Parallel()
	d := deck.New("Text")
	d.Language = "en"
	long := strings.Repeat("harbour quay crane ", 20) + "end"
	paragraph := func(runs ...deck.Run) deck.Paragraph {
		return deck.Paragraph{List: &deck.List{Kind: deck.NoList}, Runs: runs}
	}
	d.Slides = []deck.Slide{{Layout: "content", Title: "Not an element", Elements: []deck.Element{
		{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: &deck.Text{Paragraphs: []deck.Paragraph{
			paragraph(deck.Run{Text: long}),
			paragraph(deck.Run{Text: "one"}, deck.Run{Text: " ", Bold: new(true)}, deck.Run{Text: "two"}),
			paragraph(deck.Run{Text: "Hafen", Language: "de"}, deck.Run{Text: " \U0001F6A2"}),
			paragraph(deck.Run{Text: "ميناء الجنوب 12 (قرب)"}),
		}}},
		{Kind: deck.TextElement, Role: deck.FooterRole, Index: 11, Text: deck.Lines("Harbour office")},
	}}}
	content := write(t, d)
	want := `
Document
 Sect
  H1 "Not an element"
  P "` + long + `"
  P "one two"
  P
   Span "Hafen"
   Span " □"
  P
   Span`
	if got := structure(t, content); !strings.HasPrefix(got, strings.TrimSpace(want)) {
		t.Errorf("the structure is\n%s", got)
	}
	all := objects(t, content)
	for _, word := range []string{
		`"/Lang": "u:de"`, "\"/ActualText\": \"u: \U0001F6A2\"", `"/ActualText": "u:ميناء الجنوب 12 (قرب)"`,
		`"/DisplayDocTitle": true`, `"/Marked": true`,
	} {
		if !strings.Contains(all, word) {
			t.Errorf("no object has %s", word)
		}
	}
}

// TestTagsOfNothing: a deck without slides, and tables with empty cells, have sound trees.
func TestTagsOfNothing(t *testing.T) {
	t.Parallel()
	d := deck.New("Nothing")
	if got := structure(t, write(t, d)); got != "Document" {
		t.Errorf("the structure is\n%s", got)
	}
	d.Slides = []deck.Slide{{Layout: "blank", Elements: []deck.Element{
		{Kind: deck.TextElement, Box: &deck.Box{X: 1 << 20, Y: 1 << 20, W: 1 << 20, H: 1 << 20}, Text: deck.Lines("")},
		{Kind: deck.TableElement, Box: &deck.Box{X: 1 << 20, Y: 1 << 21, W: 1 << 21, H: 1 << 20}, Table: &deck.Table{
			Columns: []int64{1 << 20, 1 << 20}, Rows: []deck.Row{{Cells: []deck.Cell{{}, {Text: *deck.Lines("x")}}}},
		}},
	}}}
	if got := structure(t, write(t, d)); got != "Document\n Sect\n  Table\n   TR\n    TD\n    TD\n     P \"x\"" {
		t.Errorf("the structure is\n%s", got)
	}
}

// TestTurnedLink: a link on a turned element is where the element is seen.
func TestTurnedLink(t *testing.T) {
	t.Parallel()
	d := deck.New("Turned")
	const side = 12700 * 100
	d.Slides = []deck.Slide{{Layout: "blank", Elements: []deck.Element{{
		Kind: deck.ShapeElement, Link: "https://example.org/a_(b)", Shape: &deck.Shape{Geometry: "rect", Fill: "accent1"},
		Box: &deck.Box{X: side, Y: side, W: 3 * side, H: side, Rotation: 90},
	}}}}
	all := regexp.MustCompile(`\s+`).ReplaceAllString(objects(t, write(t, d)), "")
	if !strings.Contains(all, `"/Rect":[200.00,240.00,300.00,540.00]`) { // 540 high, around 250 from the left, 390 from below
		t.Errorf("the link is elsewhere: %s", regexp.MustCompile(`"/Rect":[^\]]*\]`).FindString(all))
	}
	if !strings.Contains(all, `"/URI":"u:https://example.org/a_(b)"`) {
		t.Error("the link leads elsewhere")
	}
}

// structure is the structure of a file as poppler reads it: types by depth, and their text.
func structure(t *testing.T, content []byte) string {
	t.Helper()
	out := run(t, "poppler-utils", content, "pdfinfo", "-struct-text")
	var all strings.Builder
	for line := range strings.Lines(out) {
		text := strings.TrimSpace(line)
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		span := regexp.MustCompile(`^/((?:Col|Row)Span \d+)$`).FindStringSubmatch(text)
		switch {
		case strings.HasPrefix(text, `"`):
			all.WriteString(" " + text)
		case span != nil:
			all.WriteString(" " + span[1])
		case text == "" || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "Object"):
		default:
			all.WriteString("\n" + strings.Repeat(" ", depth) + regexp.MustCompile(`^\w+`).FindString(text))
		}
	}
	return strings.TrimSpace(all.String())
}

// objects are the objects of a file as qpdf reads them, in JSON, after it has found no error in it.
func objects(t *testing.T, content []byte) string {
	t.Helper()
	run(t, "qpdf", content, "qpdf", "--check")
	return run(t, "qpdf", content, "qpdf", "--json=2", "--json-key=qpdf")
}

// run runs a program on a file.
func run(t *testing.T, pkg string, content []byte, program string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed; apt install %s", program, pkg)
	}
	path := filepath.Join(t.TempDir(), "deck.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var failure bytes.Buffer
	args = append(args, path)
	if program == "pdftotext" {
		args = append(args, "-")
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stderr = &failure
	out, err := command.Output()
	if err != nil || failure.Len() > 0 {
		t.Fatalf("%s: %v: %s", program, err, failure.String())
	}
	return string(out)
}
