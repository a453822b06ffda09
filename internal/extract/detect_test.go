package extract_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// zipped makes a zip of pairs of name and content.
func zipped(t *testing.T, parts ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func utf16le(text string, mark bool) []byte {
	var out []byte
	if mark {
		out = []byte{0xFF, 0xFE}
	}
	for _, u := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}

func ebcdic(text string) []byte {
	out, err := charmap.CodePage1047.NewEncoder().Bytes([]byte(text))
	if err != nil {
		panic(err) // the text is of ASCII
	}
	return out
}

// A signed file is refused with what to do, whichever way it is written.
func TestDetectSealed(t *testing.T) {
	t.Parallel()
	der := "\x30\x80\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07\x02\xA0\x80\x30" + strings.Repeat("abcdefgh", 30)
	plain := base64.StdEncoding.EncodeToString([]byte(der))
	for what, content := range map[string]string{
		"DER": der, "base64": plain[:64] + "\r\n" + plain[64:],
		"PEM": "-----BEGIN PKCS7-----\n" + plain[:64] + "\n" + plain[64:] + "\n-----END PKCS7-----\n",
	} {
		_, err := extract.Detect(write(t, "file", []byte(content)), "a.txt")
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.UnsupportedFormat ||
			!strings.Contains(e.Message, "PKCS #7") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html><html><body><p>Hello</p></body></html>"
	rows := "name;age\nAda;36\nAlan;41\nGrace;85\n"
	ole := func(stream string) []byte {
		return compoundtest.File(map[string][]byte{stream: []byte("HWP Document File")})
	}
	for _, tt := range []struct {
		what    string
		name    string
		content []byte
		want    extract.Format
	}{
		{"PDF", "a.pdf", []byte("%PDF-1.7\n"), extract.PDF},
		{"PDF after other bytes, misnamed", "a.txt", []byte("\x00\x01junk\n%PDF-1.4\n"), extract.PDF},
		{"Word", "a", zipped(t, "[Content_Types].xml", "", "word/document.xml", ""), extract.DOCX},
		{"Word, other main part", "a", zipped(t, "[Content_Types].xml", "wordprocessingml.document.main", "doc/d.xml",
			""), extract.DOCX},
		{"PowerPoint named Word", "a.docx", zipped(t, "ppt/presentation.xml", ""), extract.PPTX},
		{"Excel", "a.xlsx", zipped(t, "xl/workbook.xml", ""), extract.XLSX},
		{"OpenDocument", "a.odt", zipped(t, "mimetype", "application/vnd.oasis.opendocument.text"), extract.ODF},
		{"EPUB", "a.epub", zipped(t, "mimetype", "application/epub+zip"), extract.EPUB},
		{"zip", "a.docx", zipped(t, "holiday.jpg", ""), extract.Zip},
		{"old Word, misnamed", "a.xls", ole("WordDocument"), extract.DOC},
		{"old Excel", "a.xls", ole("Workbook"), extract.XLS},
		{"older Excel", "a.xls", ole("Book"), extract.XLS},
		{"old Excel of another program", "a.xls", ole("WORKBOOK"), extract.XLS},
		{"Excel 4", "a.xls", []byte("\x09\x04\x06\x00\x00\x00\x10\x00\x00\x00\x42\x00"), extract.XLS},
		{"Excel 2", "a.xls", []byte("\x09\x00\x04\x00\x02\x00\x10\x00\x42\x00"), extract.XLS},
		{"a chart of Excel 4", "a.xlc", []byte("\x09\x04\x06\x00\x00\x00\x20\x00\x00\x00\x42\x00"), extract.Unknown},
		{"old PowerPoint", "a.ppt", ole("PowerPoint Document"), extract.PPT},
		{"Outlook", "a.msg", ole("__properties_version1.0"), extract.MSG},
		{"Visio", "a.vsd", ole("VisioDocument"), extract.Office},
		{"Hangul", "a.hwp", ole("FileHeader"), extract.Office},
		{"another compound file", "a.doc", ole("Catalog"), extract.OLE},
		{"Pages", "a.pages", zipped(t, "Index/Document.iwa", ""), extract.Office},
		{"WordPerfect", "a", []byte("\xFFWPC\x01\x02"), extract.Office},
		{"Excel, binary", "a", zipped(t, "xl/workbook.bin", ""), extract.XLSB},
		{"RTF", "a.doc", []byte(`{\rtf1\ansi Hello}`), extract.RTF},
		{"PNG", "a.txt", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00"), extract.Image},
		{"SVG", "a.svg", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), extract.Image},
		{"HTML named text", "a.txt", []byte(page), extract.HTML},
		{"HTML, UTF-16", "a", utf16le(page, true), extract.HTML},
		{"HTML, UTF-16 without mark", "a", utf16le(page, false), extract.HTML},
		{"HTML fragment", "a", []byte("<h1>Title</h1>\n<p>Text</p>"), extract.HTML},
		{
			"Markdown that begins with HTML", "README.md", []byte("<h1 align=center>Name</h1>\n\n## Use"),
			extract.Markdown,
		},
		{
			"Markdown without a name", "a", []byte("# Title\n\n- one\n- two\n\nSee [this](https://example.org).\n"),
			extract.Markdown,
		},
		{"CSV without a name", "a", []byte(rows), extract.CSV},
		{"CSV by name", "a.csv", []byte("a,b\n1,2\n"), extract.CSV},
		{"tab-separated", "a.tsv", []byte("a\tb\n1\t2\n"), extract.CSV},
		{"prose with commas", "a", []byte("Dear Ada,\nthanks, and see you,\nAlan\n"), extract.Text},
		{"captions", "a.vtt", []byte("WEBVTT\n\n00:01.000 --> 00:02.000\none, two\n\n00:02.000 --> 00:03.000\nthree, four\n"), extract.Text},
		{"captions of SubRip", "a.srt", []byte("1\n00:00:01,000 --> 00:00:02,000\n- **one**\n# two\n"), extract.Text},
		{"text by name", "a.txt", []byte(rows), extract.Text},
		{"Latin-1", "a.txt", []byte("Gr\xfc\xdfe aus M\xfcnchen"), extract.Text},
		{"mail", "a", []byte("From: ada@example.org\nSubject: Hello\nMIME-Version: 1.0\n\nText"), extract.EML},
		{"mailbox", "a.txt", []byte("From a@b Tue Mar  3 10:00:00 2026\nSubject: x\n\ny\n"), extract.MBOX},
		{"a message that a mailbox had", "a.eml", []byte("From a@b Tue Mar  3 10:00:00 2026\nSubject: x\n\ny\n"), extract.EML},
		{"a letter", "a.txt", []byte("From Rome at 10:00 to Paris\nand back\n"), extract.Text},
		{"CBOR", "a.txt", []byte("\xa2dnamegharbourescore\x18\x24"), extract.Unknown},
		{"Latin-1 that begins as CBOR", "a.txt", []byte("\xa2 is the sign of cents"), extract.Text},
		{"compressed", "a.txt", []byte(strings.Repeat("aB3$kLm9,q\x81Zx~pW:h\x90", 50)), extract.Unknown},
		{"EBCDIC", "a.txt", ebcdic("The crane was late, and the ferry left at ten to four."), extract.Text},
		{"XML", "a.txt", []byte("<?xml version=\"1.0\"?>\n<order/>"), extract.XML},
		{"XHTML", "a.xml", []byte("<?xml version=\"1.0\"?><?xml-stylesheet href=\"a\"?><html><body/></html>"), extract.HTML},
		{"feed", "a", []byte("<rss version=\"2.0\"><channel/></rss>"), extract.XML},
		{"binary", "a.txt", []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), extract.Unknown},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			got, err := extract.Detect(write(t, "file", tt.content), tt.name)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// A package whose main part has an unusual name has the format of that part, whatever is embedded in it.
func TestDetectMainPart(t *testing.T) {
	t.Parallel()
	const office = "application/vnd.openxmlformats-officedocument."
	for _, tt := range []struct {
		what, main, embedded string
		want                 extract.Format
	}{
		{"Word with a workbook", office + "wordprocessingml.document.main+xml", "spreadsheetml.sheet", extract.DOCX},
		{"a Word template with slides", office + "wordprocessingml.template.main+xml", "presentationml.presentation", extract.DOCX},
		{
			"a Word template with macros", "application/vnd.ms-word.template.macroEnabledTemplate.main+xml", "spreadsheetml.sheet",
			extract.DOCX,
		},
		{"slides with a workbook", office + "presentationml.presentation.main+xml", "spreadsheetml.sheet", extract.PPTX},
		{"a show with macros", "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml", "spreadsheetml.sheet", extract.PPTX},
		{"a workbook with a document", office + "spreadsheetml.sheet.main+xml", "wordprocessingml.document", extract.XLSX},
		{"a workbook with macros", "application/vnd.ms-excel.sheet.macroEnabled.main+xml", "presentationml.slideshow", extract.XLSX},
		{"another program's", "application/vnd.example.main+xml", "spreadsheetml.sheet", extract.Zip},
	} {
		path := write(t, "file", zipped(t, "[Content_Types].xml", `<Types><Default Extension="bin" ContentType="`+office+
			tt.embedded+`"/><Override PartName="/main2.xml" ContentType="`+tt.main+`"/></Types>`, "main2.xml", ""))
		for range 10 { // the answer doesn't change
			if got, err := extract.Detect(path, "a"); err != nil || got != tt.want {
				t.Errorf("%s: got %q, %v; want %q", tt.what, got, err, tt.want)
				break
			}
		}
	}
}

func TestDetectRefuses(t *testing.T) {
	t.Parallel()
	encrypted := compoundtest.File(map[string][]byte{"EncryptedPackage": nil, "EncryptionInfo": nil})
	whole := zipped(t, "word/document.xml", strings.Repeat("text", 100))
	for _, tt := range []struct {
		what    string
		content []byte
		code    string
		message string
	}{
		{"empty", nil, "CORRUPTION_DETECTED", "empty"},
		{"encrypted Office", encrypted, "PASSWORD_PROTECTED", "is protected by a password: remove it and upload it again"},
		{"truncated old Office", encrypted[:600], "CORRUPTION_DETECTED", "damaged"},
		{"truncated zip", whole[:len(whole)-30], "CORRUPTION_DETECTED", "damaged"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			_, err := extract.Detect(write(t, "file", tt.content), "report.docx")
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.CodeFor("ingest") != "INGEST_"+tt.code || !strings.Contains(e.Message, tt.message) {
				t.Errorf("got %v; want %s that says %q", err, tt.code, tt.message)
			}
		})
	}
}

func TestDelimiter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text     string
		declared bool
		want     rune
	}{
		{"a,b\n1,2\n", true, ','},
		{"a;b\n1,5;2,5\n3,5;4,5\n", true, ';'},
		{"1,5;2,5\n3,5;4,5\n", true, ';'},
		{"1,5;2,5\n3,5;4,5\n5,5;6,5\n", false, ';'},
		{"1,5\t2,5\n3,5\t4,5\n", true, '\t'},
		{"Umsatz, netto;Umsatz, brutto\n1,5;2,5\n", true, ';'},
		{"\"Doe,Jane\";\"1,5\"\n\"Roe,Bob\";\"2,5\"\n", true, ';'},
		{"a;b,c\n1;2,3\n", true, ','},
		{"1,2,3;\n4,5,6;\n", true, ','},
		{"1,2;\n4,5;\n7,8;", true, ','},
		{"1,2;  \r\n4,5;\r\n7,8;\r\n", true, ','},
		{"1,2;;x\n4,5;;\n7,8;;\n", true, ';'},
		{"a;b, c\nd;e, f\n", true, ','},
		{"\"x;y\",1\n\"z;x\",2\n", true, ','},
		{"a\tb c, d\n1\t2\n", true, '\t'},
		{"a|b|c\n1|2|3\n", true, '|'},
		{"\"a,b\";c\n\"d,e\";f\n", true, ';'},
		{"5\" tape,a\n6\" tape,b\n", true, ','},
		{"single\ncolumn\n", true, 0},
		{"a,b\n1,2\n3,4\n", false, 0},
		{"a;b\n1;2\n3;4\n", false, ';'},
	} {
		if got := extract.Delimiter(tt.text, tt.declared); got != tt.want {
			t.Errorf("Delimiter(%q, %v) = %q, want %q", tt.text, tt.declared, got, tt.want)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte("%PDF-"), "a.pdf")
	f.Add([]byte("PK\x03\x04"), "a.docx")
	f.Add([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), "a.doc")
	f.Add([]byte("a,b\n1,2"), "a.csv")
	f.Fuzz(func(t *testing.T, content []byte, name string) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := extract.Detect(path, name); err != nil {
			if _, ok := errors.AsType[*taskerr.Error](err); !ok {
				t.Errorf("not a clear error: %v", err)
			}
		}
	})
}
