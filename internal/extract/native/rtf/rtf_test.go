package rtf_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rtf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const head = `{\rtf1\ansi\ansicpg1252\deff0\deflang1031{\fonttbl{\f0\froman\fcharset0 Times New Roman{\*\falt Times};}{\f1\fnil\fcharset2 Symbol;}{\f2\fnil\fcharset204 Arial Cyr;}{\f3\fnil\fcharset128 MS Mincho;}}
{\colortbl;\red0\green0\blue0;}{\stylesheet{\ql Normal;}{\s1\outlinelevel0 heading 1;}{\s2\sbasedon0 heading 2;}{\s3 Title;}{\s4 caption;}{\s5 HTML Preformatted;}{\*\cs10 Default;}}
{\*\listtable{\list{\listlevel\levelnfc0\levelstartat3{\leveltext\'02\'00.;}}{\listlevel\levelnfc4\levelstartat1{\leveltext x;}}\listid77}{\list{\listlevel\levelnfc23}\listid78}}{\*\listoverridetable{\listoverride\listid77\listoverridecount0\ls1}{\listoverride\listid78\ls2}}
{\*\generator W 1;}{\info{\title A \'fcber title}{\author Ada}{\creatim\yr2025\mo1\dy2\hr3\min4}{\*\company no}{\operator no}}{\header no\par}{\footer no\par}
`

// long is more than a cell of a table of data has.
var long = strings.Repeat("word ", 220) + "end"

func document(body string) []byte { return []byte(head + body + "}") }

func TestExtract(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, body, want string }{
		{
			"headings by style and by level", `\pard\s3 T\par\pard\s1 A\par\pard\s2 B\par\pard\outlinelevel3 C\par\pard x`,
			"# T\n\n## A\n\n### B\n\n##### C\n\nx\n",
		},
		{"a last paragraph without its end", `\pard a\par\pard\s1 B`, "a\n\n# B\n"},
		{
			"code and caption", `\pard\s5 if x:\par   y()\par\pard\s4 Listing 1\par`,
			"```\nif x:\n  y()\n```\n\nListing 1\n",
		},
		{"code pages", `\'e4{\f2\'cf\'f0\'e8}{\f3\'93\'fa\'96\'7b\'83A\'83\'83}` + "\xe4", "äПри日本ア\u30e3ä\n"},
		{
			"Unicode with other characters to skip",
			`\u228 ?\uc2\u246 xx\u252\'fc\'fc{\uc0\u223}\u-10179 ??\u-8704 ??\u228\endash\endash b`, "äöüß😀äb\n",
		},
		{"Unicode without them", `\u228\par b`, "ä\n\nb\n"},
		{
			"numbers in superscript", `10{\super 6} m{\super -2}{\sub 1}, 1{\super st}, H{\sub 2}O, x{\super\plain 2} {\super 3}\par`,
			"10⁶ m⁻²1, 1st, H2O, x2 3\n",
		},
		{
			"numbers of several digits in superscript",
			`of cranes.{\super 12} x{\super 12 }y word{\super [12]} .{\super (12)}{\super 3} x {\super 2024}\par{\super 12} Smith`,
			"of cranes.12 x¹² y word\\[12\\] .(12)3 x 2024\n\n12 Smith\n",
		},
		{"a symbol font", `{\f1 a = 5 \'b7}`, "α = 5 •\n"},
		{"characters", `a\tab b\line c\~d\_e\-f\{\}\\\lquote g\rquote\emdash h\'`, "a b  \nc d-ef{}\\\\‘g’—h\n"},
		{"groups without text", `a{\v secret}{\deleted gone}{\mvf\mvauth1 moved}{\*\unknown no{x}}{\pict\bin3 }}}00}{\field{\*\fldinst HYPERLINK "x"}{\fldrslt link}}{\xe no}b\v0`, "alinkb\n"},
		{"a deleted end of a paragraph", `\pard\s1 A {\deleted gone\par\pard more }\pard b{\v \deleted c\v0 d}\par e\par`, "A b\n\ne\n"},
		{
			"deleted items of a list", `\pard{\listtext 1.\tab}\ls1 a\par{\listtext 2.\tab}{\deleted gone\par}{\listtext 2.\tab}b{\deleted\par}\pard c\par`,
			"1. a\n\nbc\n",
		},
		{
			"a deleted end of a paragraph before a table",
			`\pard\ls1{\listtext 7.\tab}Some text {\deleted rest\par}\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row\pard c\par`,
			"7. Some text\n\n| a | b |\n| - | - |\n\nc\n",
		},
		{
			"one before a table whose rows are defined at their end",
			`\pard Some text {\deleted\par}{\listtext 7.\tab}\pard\intbl\ls1 a\cell\pard\intbl b\cell\trowd\cellx1000\cellx2000\row`,
			"Some text\n\n| 7. a | b |\n| - | - |\n",
		},
		{"a star within a group", `a {\b bold\*\unknown  text} and {\i\*\unknown{\*\gone x} more}`, "a bold text and  more\n"},
		{"two versions of a text", `{\upr{no}{\*\ud yes {x}}}!`, "yes x!\n"},
		{"labels of lists", `\pard\ls1{\listtext\pard\plain\f1\'b7\tab}\ls1 a\par{\listtext\tab 1.)\tab}\pard\ls1\ilvl1 b\par{\pntext\f0 2.\tab}c\par\pard d\par`, "- a\n    - 1.) b\n    2. c\n\nd\n"},
		{
			"labels in a symbol font that is set for complex scripts only, or has no name for the character",
			`\pard\ls1{\listtext\pard\plain \rtlch\af1 \ltrch \u61623\'3f\tab}\ilvl0\ls1 a\par{\listtext\f1\'d8\tab}\pard\ls1\ilvl1 b\par\pard \u61623\'3f c\par`,
			"- a\n    - b\n\nc\n",
		},
		{
			"lists that count", `\pard\ls1 a\par\ilvl1 b\par c\par\ilvl0 d\par\pard\ls2 e\par`,
			"3. a\n    - a. b\n    - b. c\n4. d\n- e\n",
		},
		{
			"comments", `{\*\atrfstart 0}Text{\*\atrfend 0}{\*\atnid AR}{\*\atnauthor Ada Reinholdsen}\chatn{\*\annotation{\*\atnref 0}` +
				`{\*\atndate 132194672}Too \'fc short.} goes on.\par x`,
			"Text goes on.\n\n\\[author: Ada Reinholdsen\\]: Too ü short.\n\nx\n",
		},
		{
			"notes", `Text{\super\chftn}{\footnote\pard{\super\chftn} The\par note.}.\par x`,
			"Text\\[1\\].\n\n\\[1\\] The  \nnote.\n\nx\n",
		},
		{
			"notes within each other", `a` + strings.Repeat(`{\footnote b`, 12) + strings.Repeat("}", 12),
			"a\\[8\\]\n\n\\[1\\] bbbbb\n\n\\[2\\] b\\[1\\]\n\n\\[3\\] b\\[2\\]\n\n\\[4\\] b\\[3\\]\n\n" +
				"\\[5\\] b\\[4\\]\n\n\\[6\\] b\\[5\\]\n\n\\[7\\] b\\[6\\]\n\n\\[8\\] b\\[7\\]\n",
		},
		{"a text box once", `anchor{\shp{\*\shpinst\shpleft0{\sp{\sn no}{\sv no}}{\shptxt\pard box\par}}{\shprslt{\*\do{\dptxbxtext box}}}}\par`, "anchor\n\nbox\n"},
		{"a table", `\trowd\trhdr\cellx1000\cellx2000\cellx3000\pard\intbl h\cell i\cell j\cell\row\trowd\clvmgf\cellx1000\cellx3010\intbl v\cell\b wide\par more\cell\row\trowd\clvmrg\cellx1000\clmgf\cellx2000\clmrg\cellx3000\intbl\cell x\cell\cell\row\pard after`, "| h | i | j |\n| - | - | - |\n| v | wide more | wide more |\n| v | x | x |\n\nafter\n"},
		{
			"a row that begins further right",
			`\trowd\cellx1000\cellx2000\intbl a\cell b\cell\row\trowd\trleft1000\cellx2000\intbl c\cell\row\pard`,
			"| a | b |\n| - | - |\n|  | c |\n",
		},
		{"a table in a table", `\trowd\cellx1000\cellx2000\pard\intbl a\cell\pard\intbl\itap2 b\nestcell c\nestcell{\*\nesttableprops\trowd\cellx500\cellx900\nestrow}{\nonesttables\par}\pard\intbl\itap1\cell\row\pard x`, "| a | b \\| c |\n| - | - |\n\nx\n"},
		{"a frame is not a table", `\trowd\cellx1000\pard\intbl\s1 H\par\pard\intbl x\cell\row\pard`, "# H\n\nx\n"},
		{
			"a row without its end", `\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\pard x`,
			"| a | b |\n| - | - |\n\nx\n",
		},
		{
			"headings set by hand", `\pard{\b Scope}\par ` + long + `\par\fs32 Fares\par\plain ` + long + `\par{\b Lead} ` + long +
				`\par\trowd\cellx1000\cellx2000\pard\intbl\b Head\b0\par\intbl ` + long + `\cell b\cell\row\pard`,
			"# Scope\n\n" + long + "\n\n# Fares\n\n" + long + "\n\nLead " + long + "\n\n| Head " + long + " | b |\n| - | - |\n",
		},
		{
			"a frame as a row",
			`\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row\trowd\cellx2000\pard\intbl ` + long +
				`\par\pard\intbl\ls2 i\cell\row\trowd\cellx1000\cellx2000\pard\intbl d\cell ` + long + `\par e\cell\row\pard`,
			"| a | b |\n| - | - |\n\n" + long + "\n\n- i\n\n| d | " + long + " e |\n| - | - |\n",
		},
		{
			"a merged cell beside long texts",
			`\trowd\clvmgf\cellx1000\cellx2000\pard\intbl\cell ` + long + `\par a\cell\row` +
				`\trowd\clvmrg\cellx1000\cellx2000\pard\intbl\cell ` + long + `\par b\cell\row\pard`,
			"|  | " + long + " a |\n| - | - |\n|  | " + long + " b |\n",
		},
		{"what follows the document", `a}{\rtf1 no}`, "a\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := nativetest.Markdown(t, rtf.New(), extract.RTF, document(tt.body)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	doc, err := nativetest.Extract(t, rtf.New(), extract.RTF, document("x"), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := extract.Info{
		Format: extract.RTF, Extractor: "native/rtf", Title: "A über title", Language: "de-DE", Characters: 1,
		Properties: map[string]string{"author": "Ada", "created": "2025-01-02T03:04:00", "producer": "W 1"},
	}
	if !reflect.DeepEqual(doc.Info, want) {
		t.Errorf("got %+v", doc.Info)
	}
}

// TestCut: a document without its end is read as far as it goes, with a warning.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, body, want string }{
		{"within groups", `a\par{\b text {\i more`, "a\n\ntext more\n"},
		{"within a note", `a{\footnote the note`, "a\\[1\\]\n\n\\[1\\] the note\n"},
		{"within a table", `\trowd\cellx1000\cellx2000{\pard\intbl a\cell b`, "| a | b |\n| - | - |\n"},
		{"within a character", `{{\f2\'cf\'f0\'`, "Пр\n"},
		{"within a picture", `a\par{\pict\bin99999999 x`, "a\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			content := []byte(head + tt.body)
			doc, err := nativetest.Extract(t, rtf.New(), extract.RTF, content, extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "has no end") {
				t.Errorf("got the warnings %q", doc.Warnings)
			}
			if got := nativetest.Markdown(t, rtf.New(), extract.RTF, content); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestLongTable(t *testing.T) {
	t.Parallel()
	var rows strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&rows, `\trowd\cellx1000\cellx2000\intbl row %d\cell x\cell\row`, i)
	}
	doc, err := nativetest.Extract(t, rtf.New(), extract.RTF, document(rows.String()), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for i, b := range doc.Blocks {
		if b.Table.Continued != (i > 0) {
			t.Errorf("slice %d: continued %t", i, b.Table.Continued)
		}
		count += len(b.Table.Rows)
	}
	if count != 1200 || len(doc.Blocks) < 3 {
		t.Errorf("got %d rows in %d blocks", count, len(doc.Blocks))
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	nativetest.RefusesAll(t, rtf.New(), extract.RTF, []nativetest.Refusal{
		{What: "cut off before its text", Content: []byte(head[:400]), Class: taskerr.CorruptionDetected, Message: "cut off"},
		{
			What: "cut off within binary data", Content: []byte(head + `{\pict\bin99999999 x`),
			Class: taskerr.CorruptionDetected, Message: "cut off",
		},
		{
			What: "no document", Content: []byte(`x{\rtf1 a}`),
			Class: taskerr.CorruptionDetected, Message: "does not begin",
		},
		{
			What: "deep nesting", Content: document(strings.Repeat("{", 100_000)), Class: taskerr.CorruptionDetected,
			Message: "nested deeper",
		},
		{
			What: "too much text", Content: document(strings.Repeat("0123456789", 1000)),
			Limits: extract.Limits{Characters: 200}, Class: taskerr.QuotaExceeded, Message: "200 characters",
		},
	})
}

// TestMemory: text that is held back counts toward the limit.
func TestMemory(t *testing.T) {
	t.Parallel()
	nativetest.CountsHeldText(t, rtf.New(), document(strings.Repeat("0123456789", 100)))
}

// TestCancel: an endless picture, which emits nothing, still stops with its context.
func TestCancel(t *testing.T) {
	t.Parallel()
	nativetest.Stops(t, rtf.New(), document(`{\pict `+strings.Repeat("00", 10_000)+"}"))
}

func FuzzBody(f *testing.F) {
	f.Add(`\pard\s1 A\par\ls1{\listtext\f1\'b7\tab}b{\footnote c}\par\u228 ?{\f3\'93\'fa}`)
	f.Add(`\trowd\trleft9\clvmgf\cellx1000\clmrg\cellx2000\intbl a\cell\itap2 b\nestcell{\*\nesttableprops\trowd\cellx5\nestrow}\cell\row\trowd\clvmrg\cellx1000\intbl\cell\row\pard`)
	f.Add(`{\shp{\*\shpinst{\shptxt x\par}}}{\upr{a}{\*\ud b}}{\field{\fldrslt c}}{\pict\bin2 xx}`)
	f.Fuzz(func(t *testing.T, body string) { nativetest.Fuzz(t, rtf.New(), extract.RTF, document(body)) })
}
