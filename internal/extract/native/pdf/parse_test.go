package pdf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const someWords = `<!DOCTYPE html><html><head><title>a &lt;b</title></head><body><doc>
<page width="595.0" height="842.0"><flow><block xMin="72" yMin="70" xMax="300" yMax="82">
<line xMin="72" yMin="70" xMax="300" yMax="82">
<word xMin="72" yMin="70" xMax="100" yMax="82">Tom</word><word xMin="103" yMin="70" xMax="110" yMax="82">&amp;</word>
<word xMin="113" yMin="70" xMax="150" yMax="82">o` + "\uFB03" + `ce</word></line>
<line xMin="72" yMin="90" xMax="300" yMax="102"><word xMin="72" yMin="90" xMax="80" yMax="102">` + "\u0084" + `</word>
<word xMin="90" yMin="90" xMax="140" yMax="102">an` + "\u00AD" + `other</word></line></block></flow></page>
<page width="595.0" height="842.0"><flow></flow></page>
<page width="595.0" height="842.0"><flow><word xMin="1" yMin="1" xMax="2" yMax="2">lost</wo`

const someRuns = `<?xml version="1.0"?> link to page 1 <page number="3" position="absolute" top="0" left="0" height="2526" width="1785">
<fontspec id="0" size="30" family="ABCDEF+Some-BoldItalic" color="#000000"/><fontspec id="1" size="24" family="Courier" color="#000000"/>
<text top="210" left="216" width="234" height="36" font="0"><b>Tom &amp; <i>office</b></i></text>
<text top="270" left="216" width="234" height="36" font="1">other</text></page>
<outline><item page="3">One</item><outline><item page="4">Two &amp; a half</item></outline></outline>`

func TestReadWords(t *testing.T) {
	t.Parallel()
	var pages []*page
	err := readWords(strings.NewReader(someWords), 3, func(p *page) error {
		pages = append(pages, p)
		return nil
	})
	if err != nil || len(pages) != 2 {
		t.Fatalf("%d pages, %v; want the two that are whole", len(pages), err)
	}
	var texts []string
	for _, w := range pages[0].words {
		texts = append(texts, w.text)
	}
	if want := []string{"Tom", "&", "office", unnamedChar, "another"}; !slices.Equal(texts, want) {
		t.Errorf("words %q, want %q", texts, want)
	}
	w := pages[0].words[0]
	if w.box != (box{72, 70, 100, 82}) || pages[0].width != 595 || pages[0].number != 3 || pages[1].number != 4 {
		t.Errorf("%+v on %+v", w, pages[0])
	}
}

func TestReadRuns(t *testing.T) {
	t.Parallel()
	var pages []*runPage
	outline, err := readRuns(strings.NewReader(someRuns), func(p *runPage) error {
		pages = append(pages, p)
		return nil
	})
	if err != nil || len(pages) != 1 || len(pages[0].runs) != 2 {
		t.Fatal(pages, err)
	}
	if got, want := outline, []outlineItem{{"One", 3, 1}, {"Two & a half", 4, 2}}; !slices.Equal(got, want) {
		t.Errorf("outline %v, want %v", got, want)
	}
	first, second := pages[0].runs[0], pages[0].runs[1]
	if first.style != (style{size: 10, bold: true, italic: true, weight: boldWeight, face: "some"}) || first.box != (box{72, 70, 150, 82}) ||
		first.start != "Tom & office" || first.line != 1 || second.line != 2 {
		t.Errorf("%+v", first)
	}
	if second.style != (style{size: 8, mono: true, weight: regularWeight, face: "courier"}) || pages[0].number != 3 {
		t.Errorf("%+v", second)
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                    "plain",
		"\uFB01nd":                 "find",
		"e\uFB04uent":              "effluent",
		"co\u00ADop\u00AD":         "coop\u00AD",
		"a\x00b\x07c":              "abc",
		"zero\u200Bwidth":          "zerowidth",
		"\uF0B7":                   "•",
		"\U000900B0":               "•", // SM590000, a bullet of IBM's books
		"\U00108000":               "•",
		"\U000E0100":               "\U000E0100", // a variation selector
		"non\u2011breaking":        "non-breaking",
		"御\u2F92積書":                "御見積書",
		"\u2ED1崎⾦⺠":                "長崎金民",
		"\u2E96":                   "\u2E96", // a part of a character only
		"\uFEFF":                   "",
		"\uF8EB":                   "",
		"\uFFFE":                   "",
		"Grüße":                    "Grüße",
		"\u202Eright\u202Cto left": "rightto left",
	} {
		if got := normalize(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	known := vocabularyOf("self-made")
	for _, tt := range []struct{ a, b, want string }{
		{"an exam-", "ple", "an example"},
		{"a self-", "made man", "a self-made man"},
		{"COVID-", "19", "COVID-19"},
		{"North-", "South", "North-South"},
		{"soft\u00AD", "ware", "software"},
		{"and/", "or", "and/or"},
		{"it was—", "as said", "it was—as said"},
		{"a dash -", "and more", "a dash - and more"},
		{"one", "two", "one two"},
		{"中文", "文字", "中文文字"},
		{"한국", "어", "한국 어"},
		{"", "x", "x"},
	} {
		if got := known.join(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q make %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestCaption(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Figure 7-26. Self-locking nuts.": true,
		"Table 1: Sales":                  true,
		"Abb. 3 – Ein Bild":               true,
		"Fig. 2":                          true,
		"Table 2 shows that it is so.":    false,
		"Figures are given below.":        false,
		"Tables":                          false,
	} {
		if isCaption(text) != want {
			t.Errorf("%q: want %t", text, want)
		}
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	at := func(size float64, bold bool) look { return look{size: size, bold: bold} }
	var plain levels
	for _, h := range []struct {
		look
		text string
		want int
	}{
		{at(20, true), "A Title", 1},
		{at(14, true), "1 First", 2},
		{at(12, true), "1.1 Part", 3},
		{at(12, false), "A note", 4},
		{at(12, true), "1.2 Part", 3},
		{at(14, true), "2 Second", 2},
		{at(12, true), "2.1.1 Deep", 3},
		{at(20, true), "Another Title", 1},
	} {
		if got := plain.next(h.look, h.text); got != h.want {
			t.Errorf("%q is of level %d, want %d", h.text, got, h.want)
		}
	}
	named := levels{outline: newOutlineIndex([]outlineItem{{"One", 1, 1}, {"Deep", 2, 3}})}
	for _, h := range []struct {
		text string
		want int
	}{{"One", 1}, {"Unnamed", 1}, {"3.1 Deep", 3}, {"One", 1}} {
		if got := named.next(at(12, true), h.text); got != h.want {
			t.Errorf("%q is of level %d, want %d", h.text, got, h.want)
		}
	}
}

// TestSidewaysPage reads a page whose text runs upwards.
func TestSidewaysPage(t *testing.T) {
	t.Parallel()
	p := &page{number: 1, width: 600, height: 800}
	for i, text := range []string{"first", "second", "third"} {
		bottom := 700 - 60*float64(i)
		p.words = append(p.words, word{box: box{100, bottom - 50, 112, bottom}, text: text, order: i})
	}
	p.straighten()
	if p.width != 800 || p.height != 600 || p.words[0].left > p.words[1].left ||
		p.words[0].width() < p.words[0].height() {
		t.Fatalf("%+v", p)
	}
	if got, want := p.original(p.words[0].box), (box{0.1667, 0.8125, 0.1867, 0.875}); got != want {
		t.Errorf("on the printed page it is at %+v, want %+v", got, want)
	}
}

// TestRightToLeft reads lines as poppler prints them, in visual order.
func TestRightToLeft(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words []string // in visual order
		want  string
	}{
		{[]string{"דעלק", "לש", "החפשמ"}, "משפחה של קלעד"},
		{[]string{"בוט", "רמאמ", "Deep", "Learning", "לע", "2024"}, "2024 על Deep Learning מאמר טוב"},
		{[]string{"the", "word", "םולש", "בר", "means", "peace"}, "the word רב שלום means peace"},
		{[]string{"\uFE8E\uFE92\uFEA3\uFEAE\uFEE3"}, "مرحبا"},
	} {
		var b strings.Builder
		b.WriteString(`<page width="600" height="800"><line>`)
		for i, w := range tt.words {
			fmt.Fprintf(&b, `<word xMin="%d" yMin="80" xMax="%d" yMax="92">%s</word>`, 100+50*i, 147+50*i, w)
		}
		b.WriteString("</line></page>")
		var got string
		d := newDocument(1, func(b extract.Block) error {
			got += b.Text
			if b.Box.Left != 0.1667 {
				t.Errorf("%q lies at %+v", got, b.Box)
			}
			return nil
		})
		err := readWords(strings.NewReader(b.String()), 1, func(p *page) error {
			p.mirror()
			return d.add(t.Context(), p)
		})
		if err == nil {
			err = d.flush(t.Context())
		}
		if err != nil || got != tt.want {
			t.Errorf("%q reads %q, want %q (%v)", tt.words, got, tt.want, err)
		}
	}
}

// Words whose coordinates are not numbers have no position and don't hide the positions of others.
func TestGuttersOfWordsWithoutAPlace(t *testing.T) {
	t.Parallel()
	at := func(left, right float64) segment { return segment{box: box{left, 10, right, 20}} }
	for name, segs := range map[string][]segment{
		"none":          nil,
		"nowhere first": {{}, at(72, 80), at(90, 140)},
		"nowhere last":  {at(72, 80), at(90, 140), {}},
		"nowhere only":  {{}, {}},
		"left of zero":  {{}, at(-72, -50), at(30, 40)},
	} {
		for _, x := range gutters(segs) {
			if math.IsNaN(x) || x < -72 || x > 140 {
				t.Errorf("%s: a gutter at %v", name, x)
			}
		}
	}
}
