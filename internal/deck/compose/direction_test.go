package compose_test

import (
	"archive/zip"
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// TestDirections: each paragraph that begins with an Arabic letter is written from right to left in the presentation, and
// begins at the right; so are the columns of an Arabic table. Those of Latin ones say nothing.
func TestDirections(t *testing.T) {
	t.Parallel()
	table := func(texts ...string) *extract.Table {
		out := &extract.Table{Headers: 1}
		for i := 0; i < len(texts); i += 2 {
			out.Rows = append(out.Rows, []extract.Cell{{Text: texts[i]}, {Text: texts[i+1]}})
		}
		return out
	}
	d := document(t, &extract.Document{Info: extract.Info{Title: "تقرير الميناء", Language: "ar"}, Blocks: []extract.Block{
		{Kind: extract.Heading, Level: 1, Text: "الرسوم"},
		{Kind: extract.Paragraph, Text: "سفينة في الميناء رقم 12"},
		{Kind: extract.ListItem, Text: "2026: رسوم جديدة", Marker: "-"},
		{Kind: extract.Paragraph, Text: "The harbour is called ميناء"},
		{Kind: extract.TableKind, Table: table("الرصيف", "الرسوم", "الشمالي", "240", "North", "95")},
		{Kind: extract.Caption, Text: "جدول الرسوم"},
		{Kind: extract.Heading, Level: 1, Text: "Berths"},
		{Kind: extract.TableKind, Table: table("Berth", "Fee", "الشمالي", "240")},
	}}, nil, compose.Options{Filename: "report.docx"})
	var directions []bool
	for _, s := range d.Slides {
		for _, e := range s.Elements {
			if e.Table != nil {
				directions = append(directions, e.Table.RTL)
			}
		}
	}
	if len(directions) != 2 || !directions[0] || directions[1] {
		t.Errorf("the first columns of tables are at the right: %t; want the first table's alone", directions)
	}
	arabic, others, left := 0, 0, 0
	for _, p := range paragraphs(t, decktest.PPTX(t, d)) {
		text := strings.Join(texts.FindAllString(p, -1), "")
		properties := regexp.MustCompile(`<a:pPr[^>]*>`).FindString(p)
		if deck.RightToLeft(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, "")) {
			if arabic++; !strings.Contains(properties, ` rtl="1"`) {
				t.Errorf("%s has the properties %s", text, properties)
			}
			if !strings.Contains(properties, ` algn="r"`) {
				left++
			}
			continue
		}
		if others++; strings.Contains(properties, "rtl=") {
			t.Errorf("%s has the properties %s", text, properties)
		}
	}
	if footers := len(d.Slides) - 1; arabic != 11 || others != 11 || left != footers { // the layout aligns footers
		t.Errorf("%d paragraphs are Arabic, %d of them not at the right, and %d others", arabic, left, others)
	}
}

var texts = regexp.MustCompile(`<a:t>[^<]*</a:t>`)

// paragraphs are the a:p with text of all slides.
func paragraphs(t *testing.T, content []byte) (all []string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "ppt/slides/slide") {
			continue
		}
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range regexp.MustCompile(`(?s)<a:p>.*?</a:p>`).FindAllString(string(data), -1) {
			if texts.MatchString(p) {
				all = append(all, p)
			}
		}
	}
	return all
}
