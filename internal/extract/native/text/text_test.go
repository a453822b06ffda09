package text_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/text"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func paragraph(text string, page int) extract.Block {
	return extract.Block{Kind: extract.Paragraph, Text: text, Page: page}
}

func TestExtract(t *testing.T) {
	t.Parallel()
	heading := func(level int, text string) extract.Block {
		return extract.Block{Kind: extract.Heading, Level: level, Text: text}
	}
	for _, tt := range []struct {
		what, file string
		want       []extract.Block
		pages      int
	}{
		{"paragraphs", "a\nb\r\n\r\n \t\nc", []extract.Block{paragraph("a\nb", 0), paragraph("c", 0)}, 0},
		{
			"underlined headings", "Title\n=====\nText\n\nPart\n----\n",
			[]extract.Block{heading(1, "Title"), paragraph("Text", 0), heading(2, "Part")},
			0,
		},
		{
			"no headings", "a\nb\n====\n\nA long line over a short rule\n---\n\n-----\n",
			[]extract.Block{
				paragraph("a\nb\n====", 0), paragraph("A long line over a short rule\n---", 0), paragraph("-----", 0),
			},
			0,
		},
		{
			"pages", "one\n\ftwo\f\nthree",
			[]extract.Block{paragraph("one", 1), paragraph("two", 2), paragraph("three", 3)},
			3,
		},
		{"UTF-8 with mark", "\xef\xbb\xbfGrüße", []extract.Block{paragraph("Grüße", 0)}, 0},
		{"windows-1252", "Gr\xfc\xdfe \x96 \x80", []extract.Block{paragraph("Grüße – €", 0)}, 0},
		{"UTF-16 big-endian", "\xfe\xff\x00G\x00r\x00\xfc", []extract.Block{paragraph("Grü", 0)}, 0},
		{"UTF-32", "\xff\xfe\x00\x00G\x00\x00\x00\xfc\x00\x00\x00", []extract.Block{paragraph("Gü", 0)}, 0},
		{
			"UTF-8 with one broken byte", strings.Repeat("ü", 20) + "\xff",
			[]extract.Block{paragraph(strings.Repeat("ü", 20)+"\uFFFD", 0)},
			0,
		},
		{
			"WebVTT",
			"\xef\xbb\xbfWEBVTT - talk\n\nNOTE by me\nof W3C\n\nSTYLE\n::cue {}\n\nid-1\n00:11.000 --> 00:13.000 align:right\n" +
				"<v.loud Ada Muir>Two\n<i>cranes</i> &amp; a quay</v>\n\n00:00:13.000 --> 00:00:16.000\n<v Ada Muir>more\n\n" +
				"00:17.000 --> 00:18.000\n<v Ben>No: 1 < 2 > 0",
			[]extract.Block{
				paragraph("Ada Muir: Two cranes & a quay", 0), paragraph("more", 0), paragraph("Ben: No: 1 < 2 > 0", 0),
			},
			0,
		},
		{
			"rolling captions",
			"WEBVTT\n\n00:01.000 --> 00:02.000\n \n00:02.000 --> 00:03.000\none<00:00:02.500><c> two</c>\n\n00:03.000 --> 00:03.010\n" +
				"one two\n\n00:03.010 --> 00:05.000\none two\nthree\n",
			[]extract.Block{paragraph("one two", 0), paragraph("three", 0)},
			0,
		},
		{
			"SubRip",
			"1\r\n00:00:01,000 --> 00:00:02,000\r\nYes.\r\n\r\n2\r\n00:00:02,000 --> 00:00:03,000\r\n{\\an8}<font color=\"#fff\">" +
				"Yes.</font>\r\n42\r\n\r\nNOTE that\r\n",
			[]extract.Block{paragraph("Yes.", 0), paragraph("Yes. 42", 0), paragraph("NOTE that", 0)},
			0,
		},
		{
			"SubRip without empty lines",
			"1\n00:00:01,000 --> 00:00:02,000\nOne.\n2\n00:00:02,000 --> 00:00:03,000\nTwo.\n\nand more\n3\n" +
				"00:00:03,000 --> 00:00:04,000\n4\n00:00:04,000 --> 00:00:05,000\nFour.",
			[]extract.Block{paragraph("One.", 0), paragraph("Two.", 0), paragraph("and more", 0), paragraph("Four.", 0)},
			0,
		},
		{
			"WebVTT without empty lines",
			"WEBVTT\n00:01.000 --> 00:02.000\nOne.\n42\n00:02.000 --> 00:03.000\nTwo.\n\nname\n00:03.000 --> 00:04.000\nThree.",
			[]extract.Block{paragraph("One. 42", 0), paragraph("Two.", 0), paragraph("Three.", 0)},
			0,
		},
		{"no captions", "WEBVTT is a format", []extract.Block{paragraph("WEBVTT is a format", 0)}, 0},
		{"NUL and controls", "a\x00b\x07c", []extract.Block{paragraph("abc", 0)}, 0},
		{"nothing", " \n\n", nil, 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			doc, err := nativetest.Extract(t, text.New(), extract.Text, []byte(tt.file), extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(doc.Blocks, tt.want) || doc.Pages != tt.pages {
				t.Errorf("got %+v, %d pages", doc.Blocks, doc.Pages)
			}
		})
	}
}

// TestLongLines: a file of one line, and an endless paragraph, are emitted in pieces without loss.
func TestLongLines(t *testing.T) {
	t.Parallel()
	for _, file := range []string{strings.Repeat("word ", 200_000), strings.Repeat("a line of text\n", 50_000)} {
		doc, err := nativetest.Extract(t, text.New(), extract.Text, []byte(file), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, b := range doc.Blocks {
			all.WriteString(b.Text)
			if len(b.Text) > 128<<10 {
				t.Errorf("a block of %d bytes", len(b.Text))
			}
		}
		strip := strings.NewReplacer(" ", "", "\n", "")
		if strip.Replace(all.String()) != strip.Replace(file) {
			t.Error("text was lost")
		}
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	nativetest.Refuses(t, text.New(), extract.Text, []byte(strings.Repeat("a\n\n", 100)),
		extract.Limits{Characters: 80}, taskerr.QuotaExceeded, "80 characters")
	nativetest.Refuses(t, text.New(), extract.Text, []byte(strings.Repeat("a\f", 100)), extract.Limits{Pages: 50},
		taskerr.QuotaExceeded, "50 pages")
}

func FuzzFile(f *testing.F) {
	f.Add([]byte("Title\n=====\n\ntext\f\nmore"))
	f.Add([]byte("\xff\xfeG\x00"))
	f.Fuzz(func(t *testing.T, file []byte) { nativetest.Fuzz(t, text.New(), extract.Text, file) })
}

// TestEncoding: a text whose encoding is not known has a warning; one in an encoding of its letters has none.
func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, encoding, want string }{
		{"\xdeirketin y\xfdll\xfdk raporu haz\xfdrlanm\xfd\xfet\xfdr, \xe7al\xfd\xfe\xfdld\xfd.", "windows-1254", ""},
		{"Die Kr\xe4ne m\xfcssen gr\xf6\xdfer werden.", "windows-1252", ""},
		{"Die Kr\x84ne m\x81ssen gr\x94\xe1er werden: f\x81r \x94l.", "windows-1252", charset.Doubt}, // code page 850
	} {
		doc, err := nativetest.Extract(t, text.New(), extract.Text, []byte(tt.file), extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(doc.Warnings, " "); got != tt.want || doc.Properties["encoding"] != tt.encoding {
			t.Errorf("%q read as %s: warnings %q, want %q", tt.file, doc.Properties["encoding"], got, tt.want)
		}
	}
}
