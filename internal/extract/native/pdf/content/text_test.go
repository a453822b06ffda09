package content_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fonts are those of the pages that draw makes. The letters of most are half an em wide.
var fonts = "/F << /Subtype /Type1 /BaseFont /ABCDEF+Some-Bold /FirstChar 32 /Widths [" + strings.Repeat("500 ", 95) + "] " +
	"/FontDescriptor << /Ascent 800 /Descent -200 /Flags 64 >> >> " +
	"/G << /Subtype /TrueType /BaseFont /ABCDEF+Some /FirstChar 32 /Widths [" + strings.Repeat("500 ", 95) + "] " +
	"/FontDescriptor << /Ascent 800 /Descent 200 /FontWeight 700 >> >> " +
	"/O << /Subtype /TrueType /BaseFont /Other /FirstChar 65 /Widths [500 500] /FontDescriptor << /MissingWidth 250 /Ascent 0 /Descent 32768 >> >> " +
	"/W << /Subtype /Type0 /BaseFont /Wide /Encoding /Identity-H /DescendantFonts [<< /DW 1000 /W [65 [500 250] 70 75 600] " +
	"/FontDescriptor << /Ascent 800 /Descent -200 /MissingWidth 50 >> >>] >> " +
	"/T << /Subtype /Type3 /FontMatrix [0.01 0 0 0.01 0 0] /FirstChar 97 /Widths [50 50 60] /Encoding << /Differences [97 /a /b /m] >> >> " +
	"/S << /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >> " +
	"/M << /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [65 /M /adieresis 68 /quotesingle /nothing] >> >> " +
	"/P << /Subtype /Type1 /BaseFont /Helvetica /Encoding /MacRomanEncoding >> " +
	"/N << /Subtype /Type1 /BaseFont /Nobody >> " +
	"/J << /Subtype /Type0 /BaseFont /Wide /Encoding /UniJIS-UCS2-H /DescendantFonts [<< /W [] >>] >>"

// field returns what a page with a field of a form has besides.
func field(of string) string { return "/Annots [<< /Subtype /Widget " + of + " >>]" }

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream, form, page string
		texts              []string // line: font size left,top-right,bottom
		unknown            bool
	}{
		"a string":        {stream: "BT /F 10 Tf 20 40 Td (abcd) Tj ET", texts: []string{"1: ABCDEF+Some-Bold 10 20,52-40,62 italic"}},
		"by its matrix":   {stream: "BT /F 1 Tf 10 0 0 20 20 40 Tm (ab) Tj ET", texts: []string{"1: ABCDEF+Some-Bold 20 20,44-30,64 italic"}},
		"hexadecimal":     {stream: "BT /F 10 Tf 20 40 Td <6162 6> Tj ET", texts: []string{"1: ABCDEF+Some-Bold 10 20,52-35,62 italic"}},
		"escapes":         {stream: "BT /F 10 Tf 20 40 Td (\\(\\)\\101\\\\) Tj ET", texts: []string{"1: ABCDEF+Some-Bold 10 20,52-40,62 italic"}},
		"moves":           {stream: "BT /G 10 Tf 20 40 Td [(a) -500 (b) 400 (c)] TJ ET", texts: []string{"1: ABCDEF+Some 10 20,52-36,62 bold 25-30"}},
		"a gap":           {stream: "BT /G 10 Tf 20 40 Td [(a) -1100 (b)] TJ ET", texts: []string{"1: ABCDEF+Some 10 20,52-25,62 bold", "2: ABCDEF+Some 10 36,52-41,62 bold"}},
		"wide spaces":     {stream: "BT /G 10 Tf 20 Tw 20 40 Td (a b) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-55,62 bold"}},
		"room":            {stream: "BT /G 10 Tf 2 Tc 20 40 Td (ab) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-32,62 bold 25-27"}},
		"stretched":       {stream: "BT /G 10 Tf 200 Tz 20 40 Td (ab) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-40,62 bold"}},
		"other weight":    {stream: "BT /G 10 Tf 20 40 Td (ab) Tj /F 10 Tf (c) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-30,62 bold", "1: ABCDEF+Some-Bold 10 30,52-35,62 italic"}},
		"other family":    {stream: "BT /O 10 Tf 20 40 Td (AA) Tj /G 10 Tf (c) Tj ET", texts: []string{"1: Other 10 20,50.5-30,63.5", "2: ABCDEF+Some 10 30,52-35,62 bold"}},
		"other colour":    {stream: "BT /G 10 Tf 20 40 Td (a) Tj 1 0 0 rg (b) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-25,62 bold", "2: ABCDEF+Some 10 25,52-30,62 bold"}},
		"black is black":  {stream: "BT /G 10 Tf 20 40 Td (a) Tj 0 0 0 rg (b) Tj 0 g (c) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-35,62 bold"}},
		"leftwards":       {stream: "BT /O 10 Tf 40 40 Td (C) Tj -3 0 Td (C) Tj -3 0 Td (C) Tj ET", texts: []string{"1: Other 10 37,50.5-42.5,63.5", "2: Other 10 34,50.5-36.5,63.5"}},
		"other size":      {stream: "BT /G 10 Tf 20 40 Td (a) Tj /G 8 Tf (b) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-25,62 bold", "2: ABCDEF+Some 8 25,53.6-29,61.6 bold"}},
		"missing width":   {stream: "BT /O 10 Tf 20 40 Td (ABC) Tj ET", texts: []string{"1: Other 10 20,50.5-32.5,63.5"}},
		"lines":           {stream: "BT /G 10 Tf 12 TL 20 60 Td (a) Tj T* (b) Tj (c) ' 1 2 (d) \" ET", texts: []string{"1: ABCDEF+Some 10 20,32-25,42 bold", "2: ABCDEF+Some 10 20,44-25,54 bold", "3: ABCDEF+Some 10 20,56-25,66 bold", "4: ABCDEF+Some 10 20,68-25,78 bold"}},
		"TD":              {stream: "BT /G 10 Tf 20 60 Td (a) Tj 0 -12 TD (b) Tj T* (c) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,32-25,42 bold", "2: ABCDEF+Some 10 20,44-25,54 bold", "3: ABCDEF+Some 10 20,56-25,66 bold"}},
		"two bytes":       {stream: "BT /W 10 Tf 20 40 Td <0041 0042 004A 0050> Tj ET", texts: []string{"1: Wide 10 20,52-43.5,62"}},
		"drawn letters":   {stream: "BT /T 10 Tf 20 40 Td (ab) Tj ET", texts: []string{"1:  10 20,50.5-30,63.5"}},
		"standard font":   {stream: "BT /S 10 Tf 20 40 Td (ab\\344) Tj ET", texts: []string{"1: Courier 10 20,53.71-38,61.57"}},
		"hidden":          {stream: "BT /G 10 Tf 20 40 Td (a) Tj 3 Tr (b) Tj 0 Tr (c) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-25,62 bold", "2: ABCDEF+Some 10 25,52-30,62 bold hidden", "3: ABCDEF+Some 10 30,52-35,62 bold"}},
		"state is saved":  {stream: "q BT /G 10 Tf ET q /F 20 Tf 5 Tc Q BT 20 40 Td (ab) Tj ET Q", texts: []string{"1: ABCDEF+Some 10 20,52-30,62 bold"}},
		"turned":          {stream: "BT /G 10 Tf 0 1 -1 0 20 40 Tm (ab) Tj ET BT /G 10 Tf 20 40 Td (a) Tj ET", texts: []string{"2: ABCDEF+Some 10 20,52-25,62 bold"}},
		"turned page":     {stream: "BT /G 10 Tf 0 1 -1 0 20 40 Tm (ab) Tj ET", page: "/Rotate 90", texts: []string{"1: ABCDEF+Some 10 40,12-50,22 bold"}},
		"upside down":     {stream: "BT /G 10 Tf -1 0 0 -1 20 40 Tm (ab) Tj ET", texts: []string{"1: ABCDEF+Some 10 10,52-20,62 bold"}},
		"form":            {stream: "/X Do", form: "BT /G 10 Tf 0 10 Td (ab) Tj ET", texts: []string{"1: ABCDEF+Some 10 100,82-110,92 bold"}},
		"form in a line":  {stream: "BT /G 10 Tf 20 40 Td (a) Tj /X Do (b) Tj ET", form: "BT 3 3 Td ET", texts: []string{"1: ABCDEF+Some 10 20,52-30,62 bold"}},
		"unknown widths":  {stream: "BT /N 10 Tf 20 40 Td (ab) Tj ET", unknown: true},
		"other codes":     {stream: "BT /J 10 Tf 20 40 Td <0041> Tj ET", unknown: true},
		"other glyphs":    {stream: "BT /M 10 Tf 20 40 Td (aABDE) Tj ET", texts: []string{"1: Helvetica 10 20,52.82-46.36,62.07"}},
		"Macintosh":       {stream: "BT /P 10 Tf 20 40 Td (a\\322) Tj ET", texts: []string{"1: Helvetica 10 20,52.82-28.89,62.07"}},
		"font of a state": {stream: "/Set gs BT 20 40 Td (ab) Tj ET", texts: []string{"1: ABCDEF+Some-Bold 10 20,52-30,62 italic"}},
		"raised":          {stream: "BT /G 10 Tf 20 40 Td (a) Tj /G 6 Tf 4 Ts (b) Tj 0 Ts /G 10 Tf (c) Tj ET", texts: []string{"1: ABCDEF+Some 10 20,52-25,62 bold", "2: ABCDEF+Some 6 25,51.2-28,57.2 bold", "3: ABCDEF+Some 10 28,52-33,62 bold"}},
		"no font":         {stream: "BT 20 40 Td (ab) Tj ET", unknown: true},
		"unknown, unused": {stream: "BT /N 10 Tf 20 40 Td () Tj ET"},
		"too many":        {stream: "BT /G 10 Tf 20 40 Td " + strings.Repeat("("+strings.Repeat("a", 999)+") Tj ", 400) + "ET", unknown: true, texts: []string{"1: ABCDEF+Some 10 20,52-1e+06,62 bold"}},
		"a field":         {stream: "0 g", form: "BT /G 10 Tf 0 10 Td (ab) Tj ET", page: field("/Rect [10 20 35 70] /AP << /N 5 0 R >>"), texts: []string{"1: ABCDEF+Some 10 10,62-15,72 bold"}},
		"a field's state": {stream: "q 9 0 0 9 0 0 cm", form: "BT /G 10 Tf 0 10 Td (ab) Tj ET", page: field("/Rect [10 20 60 70] /AS /On /AP << /N << /On 5 0 R >> >>"), texts: []string{"1: ABCDEF+Some 10 10,62-20,72 bold"}},
		"hidden fields":   {stream: "0 g", form: "BT /G 10 Tf (ab) Tj ET", page: "/Annots [<< /F 2 /Rect [10 20 60 70] /AP << /N 5 0 R >> >> << /F 32 /Rect [10 20 60 70] /AP << /N 5 0 R >> >>]"},
		"unknown field":   {stream: "0 g", form: "BT /N 10 Tf (ab) Tj ET", page: field("/Rect [10 20 60 70] /AP << /N 5 0 R >>"), unknown: true},
		"layers":          {stream: "0 g", page: "|/OCProperties << /D << /OFF [1 0 R] >> >>", unknown: true},
		"drawn again":     {stream: "0 g", form: "BT /G 10 Tf (ab) Tj ET", page: field("/Rect [10 20 60 70] /AP << /N 5 0 R >>") + "|/AcroForm << /NeedAppearances true >>", unknown: true},
		"a link":          {stream: "0 g", page: "/Annots [<< /Subtype /Link /AP << >> >>]"},
		"broken":          {stream: "BT /G Tf 10 Tf (a) Tj /G 10 Tf [1 2 (a <61 Tj [(b) TJ Tj ' \" Tm Td", unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := draw(t.Context(), c.stream, c.form, c.page)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, x := range d.Texts {
				var s strings.Builder
				fmt.Fprintf(&s, "%d: %s %.5g %.5g,%.5g-%.5g,%.5g", x.Line, x.Font.Name, x.Size, x.Left, x.Top, x.Right, x.Bottom)
				for i, is := range []bool{x.Font.Bold, x.Font.Italic, x.Hidden} {
					if is {
						s.WriteString([]string{" bold", " italic", " hidden"}[i])
					}
				}
				for _, g := range x.Gaps {
					fmt.Fprintf(&s, " %.5g-%.5g", g.From, g.To)
				}
				texts = append(texts, s.String())
			}
			if !slices.Equal(texts, c.texts) || d.Unknown != c.unknown {
				t.Errorf("got %q, unknown %v", texts, d.Unknown)
			}
		})
	}
}
