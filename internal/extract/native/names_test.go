package native_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

// hostile is a name that looks like "a secodnib.txt" and breaks the line; shown is how it has to be shown.
const hostile, shown = "a\r\n se\u202Ebin\u2067doc\u200F.txt", "a sebindoc.txt"

// TestNamesOfFiles: in all containers, names lose the characters that make them look like other names, in headings
// and in warnings.
func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	var wide, reversed []byte
	for _, unit := range utf16.Encode([]rune(hostile)) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
		if unit >= ' ' { // pdfdetach lists a name per line
			reversed = binary.BigEndian.AppendUint16(reversed, unit)
		}
	}
	const attachment = "__attach_version1.0_#00000000/"
	method := make([]byte, 8+16) // attached by value
	copy(method[8:], "\x03\x00\x05\x37\x06\x00\x00\x00\x01")
	file := func(content string) map[extract.Format][]byte {
		return map[extract.Format][]byte{
			extract.Zip: nativetest.Zip(t, "text.md", "Text.", hostile, content),
			extract.EML: []byte("From: a@example.com\nSubject: S\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" +
				"--b\n\nText.\n--b\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename*=utf-8''" +
				strings.NewReplacer("\r", "%0D", "\n", "%0A", " ", "%20", "\u202E", "%E2%80%AE", "\u2067", "%E2%81%A7",
					"\u200F", "%E2%80%8F").Replace(hostile) + "\n\n" + content + "\n--b--\n"),
			extract.MSG: compoundtest.File(map[string][]byte{
				"__properties_version1.0": make([]byte, 32), "__substg1.0_1000001F": []byte("T\x00e\x00x\x00t\x00"),
				attachment + "__properties_version1.0": method, attachment + "__substg1.0_3707001F": wide,
				attachment + "__substg1.0_37010102": []byte(content),
			}),
			extract.PDF: fmt.Appendf(nil, "%%PDF-1.7\n1 0 obj <</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a) 4 0 R]>>>>>> endobj\n"+
				"2 0 obj <</Type/Pages/Count 1/Kids[3 0 R]>> endobj\n3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>> endobj\n"+
				"4 0 obj <</Type/Filespec/UF<FEFF%[1]s>/F<FEFF%[1]s>/EF<</F 5 0 R>>>> endobj\n"+
				"5 0 obj <</Type/EmbeddedFile/Length %[2]d>>\nstream\n%[3]s\nendstream endobj\ntrailer <</Root 1 0 R>>\n",
				hex.EncodeToString(reversed), len(content), content),
		}
	}
	readers := native.Extractors(pdf.New(), nil)
	for format, readable := range file("The text of the file.") {
		unreadable := file("\x00\x01\x02\x03")[format]
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			doc, err := nativetest.Extract(t, readers[format], format, readable, extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, b := range doc.Blocks {
				found = found || b.Kind == extract.Heading && b.Text == shown
			}
			if !found {
				t.Errorf("no heading is %q: %+v", shown, doc.Blocks)
			}
			doc, err = nativetest.Extract(t, readers[format], format, unreadable, extract.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if w := strings.Join(doc.Info.Warnings, "; "); !strings.Contains(w, " "+shown+" (") || strings.ContainsAny(w, "\u202E\n") {
				t.Errorf("no warning names %q: %+q", shown, w)
			}
		})
	}
}
