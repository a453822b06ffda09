package embedded_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

const document = `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` +
	`The text.</w:t></w:r></w:p></w:body></w:document>`

// native10 is what Windows' Packager writes.
func native10(label, file string, content []byte) []byte {
	b := append([]byte{0, 0, 0, 0, 2, 0}, label+"\x00"+file+"\x00\x00\x00\x03\x00"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len("C:\\x")+1))
	b = append(b, "C:\\x\x00"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	return append(append(b, content...), "trailing"...)
}

func docx(t *testing.T, files ...string) []byte {
	t.Helper()
	parts := []string{
		"[Content_Types].xml", "<Types/>", "_rels/.rels", nativetest.Relations("officeDocument", "word/document.xml"),
		"word/document.xml", document,
	}
	var relations []string
	for i := 0; i < len(files); i += 2 {
		kind := "package"
		if strings.HasSuffix(files[i], ".bin") {
			kind = "oleObject"
		}
		relations = append(relations, kind, "embeddings/"+files[i])
		parts = append(parts, "word/embeddings/"+files[i], files[i+1])
	}
	return nativetest.Zip(t, append(parts, "word/_rels/document.xml.rels", nativetest.Relations(relations...),
		"word/charts/chart1.xml", "<c/>", "word/embeddings/data.csv", "chart,data\n1,2\n", "word/charts/_rels/chart1.xml.rels",
		nativetest.Relations("package", "../embeddings/data.csv"))...)
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	e := native.Extractors(nil, nil)[extract.DOCX]
	object := func(stream string, content []byte) string {
		return string(compoundtest.File(map[string][]byte{stream: content}))
	}
	content := docx(
		t, "inner.docx", string(docx(t, "deep.csv", "a,b\n1,2\n")),
		"oleObject1.bin", object("\x01Ole10Native", native10("notes.txt", `C:\Temp\notes.txt`, []byte("Packed notes."))),
		"oleObject2.bin", object("Package", docx(t)),
		"oleObject3.bin", object("Equation Native", []byte{1}),
		"oleObject4.bin", object("\x01Ole10Native", []byte("short")),
	)
	got := nativetest.Markdown(t, e, extract.DOCX, content)
	want := "The text.\n\n# inner.docx\n\nThe text.\n\n## deep.csv\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n# notes.txt\n\n" +
		"Packed notes.\n\n# oleObject2.bin\n\nThe text.\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := nativetest.Extract(t, e, extract.DOCX, content, extract.Limits{})
	if err != nil || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "2 attachments or parts") ||
		!strings.Contains(doc.Warnings[0], "oleObject3.bin (it is an equation") {
		t.Errorf("%v, %q", err, doc.Warnings)
	}
}

// Word Online names the main part word/document2.xml. The document is read by its relations, whatever is embedded in it.
func TestMainPart(t *testing.T) {
	t.Parallel()
	const office = "application/vnd.openxmlformats-officedocument."
	types := func(main string) string {
		return `<Types><Default Extension="xlsx" ContentType="` + office + `spreadsheetml.sheet"/><Override PartName="/x" ContentType="` +
			office + main + `.main+xml"/></Types>`
	}
	book := string(nativetest.Zip(t, "xl/workbook.xml", `<workbook xmlns:r="r"><sheets><sheet name="S" r:id="r0"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", nativetest.Relations("worksheet", "s.xml"), "xl/s.xml",
		`<worksheet><sheetData><row r="1"><c><v>7</v></c></row></sheetData></worksheet>`))
	for what, content := range map[string][]byte{
		"Word": nativetest.Zip(t, "[Content_Types].xml", types("wordprocessingml.document"),
			"_rels/.rels", nativetest.Relations("officeDocument", "word/document2.xml"), "word/document2.xml", document,
			"word/_rels/document2.xml.rels", nativetest.Relations("package", "embeddings/data.xlsx"), "word/embeddings/data.xlsx", book),
		"PowerPoint": nativetest.Zip(t, "[Content_Types].xml", types("presentationml.presentation"),
			"_rels/.rels", nativetest.Relations("officeDocument", "ppt/presentation2.xml"), "ppt/presentation2.xml",
			`<p:presentation xmlns:r="r"><p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst></p:presentation>`,
			"ppt/_rels/presentation2.xml.rels", nativetest.Relations("slide", "slides/slide.xml"), "ppt/slides/slide.xml",
			`<p:sld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>The text.</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:sld>`,
			"ppt/slides/_rels/slide.xml.rels", nativetest.Relations("package", "../embeddings/data.xlsx"),
			"ppt/embeddings/data.xlsx", book),
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := extract.Open(path, "file")
		if err != nil {
			t.Fatal(err)
		}
		got := nativetest.Markdown(t, native.Extractors(nil, nil)[src.Format], src.Format, content)
		if got = strings.ReplaceAll(got, "###", "##"); got != "The text.\n\n# data.xlsx\n\n## S\n\n7\n" {
			t.Errorf("%s: got\n%s", what, got)
		}
	}
}

func TestOpenDocument(t *testing.T) {
	t.Parallel()
	content := nativetest.Zip(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml",
		`<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names`+
			`:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:p>Text.</text:p></office:text></office:body>`+
			`</office:document-content>`,
		"Object 1", string(compoundtest.File(map[string][]byte{"\x01Ole10Native": native10("a.md", "a.md", []byte("# A"))})))
	if got := nativetest.Markdown(t, native.Extractors(nil, nil)[extract.ODF], extract.ODF, content); got !=
		"Text.\n\n# a.md\n\n## A\n" {
		t.Errorf("got\n%s", got)
	}
}

func FuzzObject(f *testing.F) {
	f.Add(native10("notes.txt", `C:\Temp\notes.txt`, []byte("Packed notes.")))
	f.Add([]byte("\x00\x00\x00\x00\x02\x00a\x00b\x00\x00\x00\x00\x00\xFF\xFF\xFF\xFF"))
	e := native.Extractors(nil, nil)[extract.ODF]
	f.Fuzz(func(t *testing.T, stream []byte) {
		object := compoundtest.File(map[string][]byte{"\x01Ole10Native": stream[:min(len(stream), 40_000)]})
		nativetest.Fuzz(t, e, extract.ODF, nativetest.Zip(t, "mimetype", "application/vnd.oasis.opendocument.text",
			"content.xml", "<a/>", "Object 1", string(object)))
	})
}
