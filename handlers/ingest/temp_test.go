package ingest_test

import (
	"bytes"
	"encoding/base64"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// TestOneFolder: all files of a task are in its own folder, including attachments and those of programs. The system's
// temporary folder need not exist.
func TestOneFolder(t *testing.T) {
	b := newBench(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	var pdf bytes.Buffer
	if err := nativetest.LongPDF(&pdf, 2, false); err != nil {
		t.Fatal(err)
	}
	b.Put("two.pdf", pdf.String())
	b.Put("message.eml", "From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: multipart/mixed; "+
		"boundary=b\n\n--b\n\nText.\n"+
		"--b\nContent-Type: application/pdf; name=two.pdf\nContent-Disposition: attachment; "+
		"filename=two.pdf\nContent-Transfer-Encoding: base64\n\n"+
		base64.StdEncoding.EncodeToString(pdf.Bytes())+"\n--b--\n")
	for _, name := range []string{"two.pdf", "message.eml"} {
		if r := b.ingest(`{"filename":"`+name+`","document_set":"docs"}`, task.Hints{}); r.Chunks == 0 ||
			len(r.Warnings) > 0 || r.Characters < 5000 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
