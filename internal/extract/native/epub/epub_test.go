package epub_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/epub"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	container = `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>`
	metadata  = `<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Ships</dc:title><dc:title>A subtitle</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator><dc:language>en</dc:language><dc:date>2025-01-02</dc:date><meta property="dcterms:modified">2026-01-02T00:00:00Z</meta><meta name="generator" content="G"/></metadata>`
	opf       = `<package xmlns="http://www.idpf.org/2007/opf">` + metadata + `<manifest>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="b" href="text/b%20c.xhtml" media-type="application/xhtml+xml"/><item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>
<item id="i" href="i.svg" media-type="image/svg+xml"/></manifest>
<spine toc="x"><itemref idref="n"/><itemref idref="b"/><itemref idref="i"/><itemref idref="a"/><itemref idref="b"/><itemref idref="none"/></spine></package>`
	nav = `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="landmarks"><ol><li><a href="text/a.xhtml">no</a></li></ol></nav>
<nav epub:type="toc"><ol><li><a href="text/b%20c.xhtml">no</a><ol><li><a href="text/a.xhtml#x">Second <i>part</i></a></li></ol></li></ol></nav></body></html>`
)

func page(body string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head><body>` + body + `</body></html>`
}

// book makes a book of two pages, the first with a heading. The further parts, pairs of name and content, come
// first.
func book(t testing.TB, second string, parts ...string) []byte {
	t.Helper()
	return nativetest.Zip(t, append(
		parts, "mimetype", "application/epub+zip", "META-INF/container.xml", container, "OPS/book.opf", opf,
		"OPS/nav.xhtml", nav,
		"OPS/text/b c.xhtml", page("<h2>First</h2><p>One.</p>"), "OPS/text/a.xhtml", page(second),
	)...)
}

func TestExtract(t *testing.T) {
	t.Parallel()
	const ncx = `<ncx><navMap><navPoint><navLabel><text>Chapter II</text></navLabel><content src="text/a.xhtml"/></navPoint></navMap></ncx>`
	old := strings.Replace(opf, ` properties="nav"`, "", 1)
	var utf16 strings.Builder
	utf16.WriteString("\xff\xfe")
	for _, c := range "<p>e\u00e9</p>" {
		utf16.WriteString(string([]byte{byte(c), 0}))
	}
	for _, tt := range []struct {
		what  string
		file  []byte
		wants string // of the second page
	}{
		{"a heading from the table of contents", book(t, "<p>Two.</p>"), "## Second part\n\nTwo.\n"},
		{"a heading that is a paragraph", book(t, "<p>SECOND  part</p><p>Two.</p>"), "## Second part\n\nTwo.\n"},
		{"a heading of its own", book(t, "<p>Two.</p><h3>Late</h3>"), "Two.\n\n### Late\n"},
		{
			"the table of contents of EPUB 2", book(t, "<p>Two.</p>", "OPS/book.opf", old, "OPS/toc.ncx", ncx),
			"# Chapter II\n\nTwo.\n",
		},
		{
			"a damaged table of contents", book(t, "<p>Two.</p>", "OPS/nav.xhtml", "<html><nav epub:type='toc'><ol>"),
			"Two.\n",
		},
		{
			"elements that close themselves",
			book(t, `<h1>H</h1><p/>`+strings.Repeat(`<span class="page"/><a id="x"/><div/>`, 600)+
				`<p>a<br/>b</p><textarea/><p>c</p>`), "# H\n\na  \nb\n\nc\n",
		},
		{"UTF-16", book(t, "", "OPS/text/a.xhtml", utf16.String()), "## Second part\n\neé\n"},
		{"another encoding", book(t, "", "OPS/text/a.xhtml",
			`<?xml version="1.0" encoding="windows-1251"?><h1>`+"\xcf\xf0\xe8</h1>"), "# При\n"},
		{"obfuscated fonts", book(t, "<h1>H</h1>", "META-INF/encryption.xml",
			`<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/><CipherReference URI="OPS/text/a.xhtml"/></EncryptedData></encryption>`), "# H\n"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			want := "## First\n\nOne.\n\n" + tt.wants
			if got := nativetest.Markdown(t, epub.New(), extract.EPUB, tt.file); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	doc, err := nativetest.Extract(t, epub.New(), extract.EPUB, book(t, "<h1>H</h1>"), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := extract.Info{
		Format: extract.EPUB, Extractor: "native/epub", Title: "Ships", Language: "en", Characters: 10,
		Properties: map[string]string{
			"author": "Ada, Bob", "language": "en", "published": "2025-01-02", "modified": "2026-01-02T00:00:00Z",
			"producer": "G",
		},
	}
	if !reflect.DeepEqual(doc.Info, want) {
		t.Errorf("got %+v", doc.Info)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	drm := `<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><KeyInfo/><CipherReference URI="OPS/text/b%20c.xhtml"/></EncryptedData></encryption>`
	nativetest.RefusesAll(t, epub.New(), extract.EPUB, []nativetest.Refusal{
		{
			What: "DRM", Content: book(t, "", "META-INF/encryption.xml", drm), Class: taskerr.CorruptionDetected,
			Message: "DRM",
		},
		{
			What: "no container", Content: nativetest.Zip(t, "mimetype", "application/epub+zip"),
			Class: taskerr.CorruptionDetected, Message: "no package document",
		},
		{
			What: "no package document", Content: nativetest.Zip(t, "META-INF/container.xml", container),
			Class: taskerr.CorruptionDetected, Message: "no package document",
		},
		{
			What: "no pages", Content: book(t, "", "OPS/book.opf", "<package/>"), Class: taskerr.CorruptionDetected,
			Message: "lists no pages",
		},
		{
			What: "a missing page", Content: nativetest.Zip(t, "META-INF/container.xml", container, "OPS/book.opf", opf),
			Class: taskerr.CorruptionDetected, Message: "does not have",
		},
		{
			What: "deep nesting", Content: book(t, strings.Repeat("<div>", 10_000)), Class: taskerr.CorruptionDetected,
			Message: "nested deeper",
		},
		{
			What: "too much text", Content: book(t, strings.Repeat("<p>0123456789</p>", 100)),
			Limits: extract.Limits{Characters: 200}, Class: taskerr.QuotaExceeded, Message: "200 characters",
		},
		{
			What: "a zip bomb", Content: book(t, strings.Repeat(" ", 9<<20)), Class: taskerr.CorruptionDetected,
			Message: "zip bomb",
		},
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	nativetest.Stops(t, epub.New(), book(t, "<p>x</p>"))
}

func FuzzPage(f *testing.F) {
	f.Add("<p/><svg/><title/><textarea/><p>x</p>")
	f.Fuzz(func(t *testing.T, body string) { nativetest.Fuzz(t, epub.New(), extract.EPUB, book(t, body)) })
}

func FuzzPackage(f *testing.F) {
	f.Add(opf, nav)
	f.Fuzz(func(t *testing.T, opf, nav string) {
		nativetest.Fuzz(t, epub.New(), extract.EPUB, book(t, "<p>x</p>", "OPS/book.opf", opf, "OPS/nav.xhtml", nav))
	})
}
