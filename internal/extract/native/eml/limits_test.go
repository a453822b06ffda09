package eml_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	e := reader()
	refuses := func(mail string, limits extract.Limits, class taskerr.Class, message string) {
		t.Helper()
		nativetest.Refuses(t, e, extract.EML, []byte(mail), limits, class, message)
	}
	refuses(head+"Content-Type: multipart/encrypted; boundary=b\n\n--b--", extract.Limits{}, taskerr.CorruptionDetected,
		"encrypted")
	refuses(head+"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx", extract.Limits{},
		taskerr.CorruptionDetected, "encrypted")
	refuses("no head at all", extract.Limits{}, taskerr.CorruptionDetected, "no e-mail header")
	refuses("Subject: "+strings.Repeat("x", 2<<20)+"\n\n", extract.Limits{}, taskerr.CorruptionDetected,
		"header of the message is larger")
	refuses(head+multi("mixed", "b", strings.Repeat("\n--b\n", 3000)), extract.Limits{}, taskerr.QuotaExceeded,
		"more than 2000 parts")
	refuses(head+"\n"+strings.Repeat("word ", 100), extract.Limits{Characters: 200}, taskerr.QuotaExceeded,
		"characters of text")
}

// The depth of nested messages and multiparts is limited.
func TestNesting(t *testing.T) {
	t.Parallel()
	mail := head + "\nThe innermost."
	for range 50 {
		mail = head + "Content-Type: message/rfc822\n\n" + mail
	}
	doc := read(t, mail)
	if !strings.Contains(unread(doc), "more than 8 deep") || len(doc.Blocks) != 18 {
		t.Errorf("%d blocks, %+v", len(doc.Blocks), doc.Warnings)
	}
	part := plain
	for i := range 100 {
		part = multi("mixed", fmt.Sprintf("b%dx", i), part)
	}
	if doc := read(t, head+part); !strings.Contains(unread(doc), "more than 32 deep") {
		t.Errorf("%+v", doc.Warnings)
	}
}

func TestManyAttachments(t *testing.T) {
	t.Parallel()
	parts := []string{plain}
	for i := range 205 {
		parts = append(parts, attach(fmt.Sprintf("%d.txt", i), []byte("Notes.")))
	}
	doc, err := nativetest.Extract(t, reader(), extract.EML, []byte(head+multi("mixed", "b", parts...)),
		extract.Limits{Files: 200})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(unread(doc), "5 attachments") || doc.Properties["attachments"] != "205" ||
		len(doc.Blocks) != 3+2*200 {
		t.Errorf("%d blocks, %+v", len(doc.Blocks), doc.Info)
	}
}

// Bombs share one limit: a message can't unpack more by holding more of them.
func TestBombsShareTheLimit(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"word/document.xml": `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Word.</w:t></w:r></w:p></w:body></w:document>`,
		"word/media/x.bin":  strings.Repeat("\x00", 900_000),
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	docx := attach("x.docx", b.Bytes())
	doc, err := nativetest.Extract(t, reader(), extract.EML, []byte(head+multi("mixed", "b", docx, docx, docx, docx)),
		extract.Limits{ZipBytes: 2_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(unread(doc), "2 attachments") || !strings.Contains(unread(doc), "zip bomb") {
		t.Errorf("%+v", doc.Warnings)
	}
}

// Attachments share the character limit with the text; the ones that exceed it are named.
func TestLongAttachments(t *testing.T) {
	t.Parallel()
	notes := attach("a.txt", []byte(strings.Repeat("word ", 20)))
	for limit := 100; limit < 400; limit++ {
		doc, err := nativetest.Extract(t, reader(), extract.EML,
			[]byte(head+multi("mixed", "b", plain, notes, notes, notes)), extract.Limits{Characters: limit})
		if err != nil {
			t.Fatalf("limit of %d: %v", limit, err)
		}
		if limit < 347 && !strings.Contains(unread(doc), "characters of text") || doc.Characters > limit {
			t.Errorf("limit of %d: %d characters, %+v", limit, doc.Characters, doc.Warnings)
		}
	}
}

// TestLongLists: the markers of attached lists count in the share of each attachment as they do in the message's limit, so
// that a list too long is named and the message is read.
func TestLongLists(t *testing.T) {
	t.Parallel()
	items := attach("a.md", []byte(strings.Repeat("100. w\n", 20)))
	for limit := 100; limit < 400; limit++ {
		doc, err := nativetest.Extract(t, reader(), extract.EML,
			[]byte(head+multi("mixed", "b", plain, items, items, items)), extract.Limits{Characters: limit})
		if err != nil {
			t.Fatalf("limit of %d: %v", limit, err)
		}
		if limit < 300 && !strings.Contains(unread(doc), "characters of text") {
			t.Errorf("limit of %d: %d characters, %+v", limit, doc.Characters, doc.Warnings)
		}
	}
}

// TestFolded: unfolding a field takes linear memory. The test counts allocations, so it doesn't run in
// parallel.
func TestFolded(t *testing.T) { //nolint:paralleltest // see above
	allocated := func(lines int) uint64 {
		message := "From: a@example.org\nSubject: one" + strings.Repeat("\n two", lines) + "\nDate: x\n\ntext\n"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc, err := nativetest.Extract(t, reader(), extract.EML, []byte(message), extract.Limits{})
		runtime.ReadMemStats(&after)
		if err != nil || !strings.HasPrefix(doc.Blocks[0].Text, "one two two") {
			t.Fatalf("%v, %+v", err, doc)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if bytes := allocated(100_000); bytes > 500<<20 {
		t.Errorf("%d MB were allocated for half a megabyte", bytes>>20)
	}
}
