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

// TestLinksInTables: cells keep their links, in tables with drawn lines and in those without.
func TestLinksInTables(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"Station", "Depth", "Report"}, {"Ostend", "12", "first of May"}, {"Bruges", "14", "second of May"}, {"Ghent", "9", "third"}}
	for _, ruled := range []bool{false, true} {
		m := (&maker{}).page()
		m.lines(72, 80, 12, regular, 10, fullLine, nextLine)
		for r, row := range rows {
			y := 130 + 20*float64(r)
			for c, text := range row {
				m.text(76+150*float64(c), y, regular, 10, text)
			}
		}
		for i := 0; ruled && i < 5; i++ {
			fmt.Fprintf(m.pages[0], "72 %g 450 0.5 re f\n", pageHeight-116-20*float64(i))
			fmt.Fprintf(m.pages[0], "%g %d 0.5 80 re f\n", 72+150*float64(min(i, 3)), pageHeight-196)
		}
		m.annots = area(76, 141, 130, 153, "/A << /S /URI /URI (https://ostend.example/) >>") +
			area(395, 161, 450, 173, "/A << /S /URI /URI (https://may.example/2) >>")
		doc, err := collect(t, m.write(t))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, b := range doc.Blocks {
			if b.Table == nil {
				continue
			}
			for _, row := range b.Table.Rows {
				for _, c := range row {
					for _, l := range c.Links {
						got[c.Text+": "+c.Text[l.Start:l.End]] = l.Target
					}
				}
			}
		}
		want := map[string]string{"Ostend: Ostend": "https://ostend.example/", "second of May: of May": "https://may.example/2"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("ruled %t: %v, want %v, in %+v", ruled, got, want, blocksOf(doc))
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
