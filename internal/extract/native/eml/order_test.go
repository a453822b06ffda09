package eml_test

import (
	"encoding/base64"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// TestTextAfterAttachments: text after an attachment, such as the footer of a mailing list, is not under its heading.
func TestTextAfterAttachments(t *testing.T) {
	t.Parallel()
	const (
		top    = "# S\n\nFrom: a@example.com\n\n"
		footer = "Content-Type: text/plain\nContent-Disposition: inline\n\nThe footer."
		both   = "The plain text.\n\nThe footer.\n\n"
	)
	notes := attach("n.txt", []byte("Notes."))
	inner := "Subject: Inner\nFrom: b@example.com\n" + multi("mixed", "in", plain, notes, footer)
	const innerText = "## Inner\n\nFrom: b@example.com\n\nThe plain text.\n\nThe footer.\n\n### n.txt\n\nNotes.\n"
	for name, tt := range map[string]struct{ body, want string }{
		"footer":            {multi("mixed", "b", plain, notes, footer), both + "## n.txt\n\nNotes.\n"},
		"attachments first": {multi("mixed", "b", notes, plain, footer), both + "## n.txt\n\nNotes.\n"},
		"a page in pieces, as Apple Mail writes it": {
			multi("alternative", "b", "Content-Type: text/plain\n\nNo", multi("mixed", "c", page, notes,
				"Content-Type: text/html\n\n<p>More of the page.</p>")),
			"The page.\n\nMore of the page.\n\n## n.txt\n\nNotes.\n",
		},
		"an attachment of a page with its pictures": {
			multi("mixed", "b", multi("related", "c", page, "Content-Type: image/png\nContent-ID: <x>\n\nPNG", notes), footer),
			"The page.\n\nThe footer.\n\n## n.txt\n\nNotes.\n",
		},
		"an attachment of a version of the text": {
			multi("mixed", "b", multi("alternative", "c", plain, notes), footer), both + "## n.txt\n\nNotes.\n",
		},
		"a list that wraps a message": {
			multi("mixed", "b", multi("mixed", "c", plain, notes, attach("x.bin", []byte{0, 1})), footer),
			both + "## n.txt\n\nNotes.\n\nAttachment: x.bin\n",
		},
		"a forwarded message of the same shape": {
			multi("mixed", "b", plain, "Content-Type: message/rfc822\n\n"+inner, footer), both + innerText,
		},
		"a forwarded message that is a file": {
			multi("mixed", "b", plain, attach("x.eml", []byte(inner)), footer), both + innerText,
		},
		"attachments in their order": {
			multi("mixed", "b", plain, "Content-Type: application/x-y\n\nOne.", "Content-Type: message/rfc822\n\n"+inner,
				"Content-Type: application/x-y\n\nThree.", footer),
			both + "## attachment 1\n\nOne.\n\n" + innerText + "\n## attachment 4\n\nThree.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := markdown(t, head+tt.body); got != top+tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, top+tt.want)
			}
		})
	}
}

// TestLargeForwards: forwarded messages count toward the limit of saved files only while they are read, and those that
// would leave no room for their attachments are not saved at all.
func TestLargeForwards(t *testing.T) {
	t.Parallel()
	mail := head + multi("mixed", "b0", plain, attach("n.txt", []byte(strings.Repeat("Notes. ", 20_000))))
	for range 7 {
		mail = head + "Content-Type: message/rfc822\n\n" + mail
	}
	doc, err := nativetest.Extract(t, reader(), extract.EML, []byte(mail), extract.Limits{Bytes: int64(len(mail)) + 1000})
	if err != nil {
		t.Fatal(err)
	}
	if unread(doc) != "" || doc.Properties["attachments"] != "8" || doc.Characters < 140_000 {
		t.Errorf("%+v", doc.Info)
	}
	small := head + multi("mixed", "b0", plain, attach("n.txt", []byte(strings.Repeat("Notes. ", 1000))))
	for range 4 {
		small = head + "Content-Type: message/rfc822\n\n" + small
	}
	parts := make([]string, 50)
	for i := range parts {
		parts[i] = "Content-Type: message/rfc822\n\n" + small
	}
	mail = head + multi("mixed", "b", parts...)
	doc, err = nativetest.Extract(t, reader(), extract.EML, []byte(mail), extract.Limits{Bytes: 3 * int64(len(mail))})
	if err != nil {
		t.Fatal(err)
	}
	if unread(doc) != "" || doc.Properties["attachments"] != "300" {
		t.Errorf("%+v", doc.Info)
	}
}

// TestAttachmentsAreNotHeld: attachments wait in files, not in memory. The test counts allocations, so it doesn't run in
// parallel.
func TestAttachmentsAreNotHeld(t *testing.T) { //nolint:paralleltest // see above
	const size = 8 << 20
	content := base64.StdEncoding.EncodeToString(make([]byte, size))
	mail := []byte(head + multi("mixed", "b", plain, "Content-Type: application/x-y\nContent-Transfer-Encoding: base64\n\n"+content))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := nativetest.Extract(t, reader(), extract.EML, mail, extract.Limits{})
	runtime.ReadMemStats(&after)
	if bytes := after.TotalAlloc - before.TotalAlloc; err != nil || bytes > size {
		t.Errorf("%v, %d MB were allocated", err, bytes>>20)
	}
}
