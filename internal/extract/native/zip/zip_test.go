package zip_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func reader() extract.Extractor { return native.Extractors(nil, nil)[extract.Zip] }

func TestMembers(t *testing.T) {
	t.Parallel()
	inner := nativetest.Zip(t, "deep/notes.txt", "Deep.")
	content := nativetest.Zip(
		t, "folder/", "", "folder/a.md", "# A\n\nText.", "__MACOSX/folder/._a.md", "\x00\x05", "b\\c.csv", "x,y\n1,2\n",
		"inner.zip", string(inner), "mail.eml", "From: a@example.com\nSubject: S\n\nBody.", "gr\x81n.txt", "Green.",
		"x.bin", "\x00\x01\x02", "empty.txt", "",
	)
	got := nativetest.Markdown(t, reader(), extract.Zip, content)
	want := "# folder/a.md\n\n## A\n\nText.\n\n# b/c.csv\n\n| x | y |\n| - | - |\n| 1 | 2 |\n\n# inner.zip\n\n" +
		"## deep/notes.txt\n\nDeep.\n\n# mail.eml\n\n## S\n\nFrom: a@example.com\n\nBody.\n\n# grün.txt\n\nGreen.\n\n" +
		"File: x.bin\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc, err := nativetest.Extract(t, reader(), extract.Zip, content, extract.Limits{})
	if err != nil || len(doc.Warnings) != 1 ||
		doc.Warnings[0] != "1 attachments or parts could not be read: x.bin (this kind of file can't be read)" {
		t.Errorf("%v, %q", err, doc.Warnings)
	}
}

// TestCodePages: names are read in the code page of the system that made the archive, which all of them together show.
func TestCodePages(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		code  encoding.Encoding
		names []string
	}{
		"Russian": {charmap.CodePage866, []string{"Договор поставки/Приложение 1.txt", "Договор поставки/Спецификация товара.txt"}},
		"Chinese": {simplifiedchinese.GBK, []string{"合同文件/采购合同的附件.txt", "合同文件/会议记录和通知.txt"}},
		"Western": {charmap.CodePage437, []string{"grün.txt", "Übersicht für März.txt"}},
	} {
		var parts []string
		var want strings.Builder
		for _, name := range tt.names {
			coded, err := tt.code.NewEncoder().String(name)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, coded, "Text.")
			want.WriteString("# " + name + "\n\nText.\n\n")
		}
		got := nativetest.Markdown(t, reader(), extract.Zip, nativetest.Zip(t, parts...))
		if got != strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("%s: got\n%s", what, got)
		}
	}
}

// TestNamesThatAreAlike: members with one name, or with names that differ in case only, are all read.
func TestNamesThatAreAlike(t *testing.T) {
	t.Parallel()
	var content bytes.Buffer
	z := zip.NewWriter(&content)
	for i, name := range []string{"a.txt", "a.txt", "A.TXT", "/a.txt"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = fmt.Fprintf(w, "Text %d.", i)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got := nativetest.Markdown(t, reader(), extract.Zip, content.Bytes())
	if want := "# a.txt\n\nText 0.\n\n# a.txt\n\nText 1.\n\n# A.TXT\n\nText 2.\n\n# /a.txt\n\nText 3.\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}

// An archive in an archive, many times, is read as deep as allowed; what is deeper is named.
func TestDepth(t *testing.T) {
	t.Parallel()
	content := nativetest.Zip(t, "a.txt", "The innermost.")
	for range 20 {
		content = nativetest.Zip(t, "a.zip", string(content), "a.txt", "Text.")
	}
	doc, err := nativetest.Extract(t, reader(), extract.Zip, content, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for _, b := range doc.Blocks {
		if b.Text == "Text." {
			texts++
		}
	}
	if texts != extract.DefaultLimits.Depth || !strings.Contains(doc.Warnings[0], "a.zip/a.zip (none of") {
		t.Errorf("%d texts, %q", texts, doc.Warnings)
	}
}

// Archives of archives share one limit of files: breadth does not multiply with depth.
func TestFilesAreShared(t *testing.T) {
	t.Parallel()
	content := []byte("Text.")
	for depth := range 4 {
		var parts []string
		for i := range 10 {
			parts = append(parts, fmt.Sprintf("%d.%s", i, []string{"txt", "zip"}[min(depth, 1)]), string(content))
		}
		content = nativetest.Zip(t, parts...)
	}
	doc, err := nativetest.Extract(t, reader(), extract.Zip, content, extract.Limits{Files: 50})
	if err != nil {
		t.Fatal(err)
	}
	texts := 0
	for _, b := range doc.Blocks {
		if b.Text == "Text." {
			texts++
		}
	}
	if texts == 0 || texts > 50 || !strings.Contains(doc.Warnings[0], "at most 50 files within a document") {
		t.Errorf("%d texts, %q", texts, doc.Warnings)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	var many bytes.Buffer
	z := zip.NewWriter(&many)
	for i := range 100_000 { // stored: to start a deflater anew costs more than all else of an empty member
		if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d.txt", i), Method: zip.Store}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	nativetest.RefusesAll(t, reader(), extract.Zip, []nativetest.Refusal{
		{What: "100,000 members", Content: many.Bytes(), Class: taskerr.QuotaExceeded, Message: "more than 10000 parts"},
		{
			What: "nothing readable", Content: nativetest.Zip(t, "x.bin", "\x00\x01"), Class: taskerr.UnsupportedFormat,
			Message: "none of the 1 files in the zip archive can be read, the first: x.bin (this kind of file",
		},
		{What: "nothing", Content: nativetest.Zip(t), Class: taskerr.CorruptionDetected, Message: "no files"},
	})
}

// Members together may be as large as one document; those that exceed it are named.
func TestBytesAreShared(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("word ", 200)
	doc, err := nativetest.Extract(t, reader(), extract.Zip, nativetest.Zip(t, "a.txt", text, "b.txt", text, "c.txt", text),
		extract.Limits{Bytes: 2500})
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Blocks) != 5 || !strings.Contains(doc.Warnings[0], "c.txt (the files within it are larger") {
		t.Errorf("%d blocks, %q", len(doc.Blocks), doc.Warnings)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(nativetest.Zip(f, "a.txt", "Text", "b.zip", string(nativetest.Zip(f, "c.csv", "a,b\n1,2\n"))))
	e := reader()
	f.Fuzz(func(t *testing.T, content []byte) { nativetest.Fuzz(t, e, extract.Zip, content) })
}
