package pdf_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// area returns a link annotation with its box in points from the top left, as maker's.
func area(left, top, right, bottom float64, action string) string {
	return fmt.Sprintf("<< /Type /Annot /Subtype /Link /Rect [%g %g %g %g] %s >> ", left, pageHeight-bottom, right,
		pageHeight-top, action)
}

// TestLinks: the words of a page that lead to addresses are links of their blocks, and the text is the same.
func TestLinks(t *testing.T) {
	t.Parallel()
	build := func(annots string, rotate int) *maker {
		m := (&maker{annots: annots, rotate: rotate}).page()
		m.text(72, 100, bold, 18, "The port of Ostend")
		m.text(72, 140, regular, 10, "The harbour master publishes the timetable and the map of the berths, which every captain reads")
		m.text(72, 152, regular, 10, "before the ship enters the port, and sends questions to the office.")
		m.text(72, 190, regular, 10, "- first the pilots")
		return m
	}
	uri := func(address string) string { return "/A << /S /URI /URI (" + address + ") >>" }
	annots := area(180, 84, 260, 104, uri("https://ostend.example/")) + // of the heading
		area(192, 130, 257, 142, uri("https://timetable.example/a?b=c")) + // "the timetable" and a little more
		"<< /Subtype /Link /Rect [0 0 600 800] /QuadPoints [72 694 140 694 72 684 140 684] " + uri("mailto:a@b.example") + " >> " +
		area(72, 182, 200, 194, uri("javascript:alert\\(1\\)")) + // isn't kept
		area(72, 182, 200, 194, "/A << /S /GoTo /D [4 0 R /Fit] >>")
	for _, rotate := range []int{0, 90} {
		plain, err := collect(t, build("", rotate).write(t))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := collect(t, build(annots, rotate).write(t))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for i, b := range doc.Blocks {
			for _, l := range b.Links {
				got[b.Text[l.Start:l.End]] = l.Target
			}
			if b.Links = nil; !reflect.DeepEqual(b, plain.Blocks[i]) {
				t.Errorf("rotated by %d: %+v, without links %+v", rotate, b, plain.Blocks[i])
			}
		}
		want := map[string]string{
			"Ostend": "https://ostend.example/", "the timetable": "https://timetable.example/a?b=c",
			"before the ship": "mailto:a@b.example",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("rotated by %d: %v", rotate, got)
		}
	}
}

// TestHostileLinks: links of any form are no more than missing.
func TestHostileLinks(t *testing.T) {
	t.Parallel()
	for _, annots := range []string{
		"<< /Subtype /Link /A 1 0 R >>", "<< /Subtype /Link /Rect [1] /A << /S /URI /URI (https://a.example) >> >>",
		"<< /Subtype /Link /Rect [0 0 1e30 1e30] /A << /S /URI /URI (https://a.example) >> >>",
		"<< /Subtype /Link /Rect [-9e5 -9e5 9e5 9e5] /A << /S /URI /URI 7 >> >>", "1 0 R 99 0 R null 5 [ [ ] ]",
	} {
		doc, err := collect(t, (&maker{annots: annots}).page().text(72, 100, regular, 10, "one two").write(t))
		if err != nil || len(doc.Blocks) != 1 || doc.Blocks[0].Text != "one two" || doc.Blocks[0].Kind != extract.Paragraph {
			t.Errorf("%s: %v %+v", annots, err, doc)
		}
	}
}
