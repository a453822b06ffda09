package msg_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound/compoundtest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

const firstAttachment = "__attach_version1.0_#00000000/"

// sent is a message of a class with a copy of its text and one attachment: what was sent.
func sent(class, content string) []byte { return compoundtest.File(sentAt("", 32, class, content)) }

func sentAt(path string, header int, class, content string) map[string][]byte {
	file := path + firstAttachment
	return join(message(path, header, "S"), streams{}.text(path, 0x1A, class),
		streams{}.text(file, 0x3707, "smime.p7m").raw(file, 0x3701, 0x102, []byte(content)).fixed(file, 8, nil))
}

const signed = "Content-Type: multipart/signed; boundary=s; protocol=\"application/pkcs7-signature\"\r\n\r\n" +
	"--s\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n" +
	"--m\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nPGgxPsOcYmVyPC9oMT4=\r\n" +
	"--m\r\nContent-Type: text/csv; name=numbers.csv\r\nContent-Disposition: attachment\r\n\r\na,b\r\n1,2\r\n" +
	"--m\r\nContent-Type: application/octet-stream; name=x.bin\r\nContent-Disposition: attachment\r\n\r\n\x00\x01\x02\r\n--m--\r\n" +
	"--s\r\nContent-Type: application/pkcs7-signature; name=smime.p7s\r\n\r\nMIAG\r\n--s--\r\n"

// TestSigned: a message with a clear signature is read as it was sent, and its text once.
func TestSigned(t *testing.T) {
	t.Parallel()
	const date = "Date: 2026-03-03T10:00:00Z\n\n"
	const table = "numbers.csv\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nAttachment: x.bin\n"
	for _, class := range []string{"IPM.Note.SMIME.MultipartSigned", "IPM.Note.SMIME"} {
		content := sent(class, signed)
		got := nativetest.Markdown(t, reader(), extract.MSG, content)
		if want := "# S\n\n" + head + date + "## Über\n\n## " + table; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", class, got, want)
		}
		doc, err := nativetest.Extract(t, reader(), extract.MSG, content, extract.Limits{})
		if err != nil || doc.Properties["attachments"] != "2" || len(doc.Warnings) != 1 ||
			!strings.Contains(doc.Warnings[0], "smime.p7m/x.bin (") {
			t.Errorf("%s: %v, %+v", class, err, doc.Info)
		}
	}
	inner := firstAttachment + "__substg1.0_3701000D/"
	got := nativetest.Markdown(t, reader(), extract.MSG, compoundtest.File(join(message("", 32, "Outer"),
		streams{}.fixed(firstAttachment, 8, nil), sentAt(inner, 24, "IPM.Note.SMIME.MultipartSigned", signed))))
	want := "# Outer\n\n" + head + date + "Text of Outer.\n\n## S\n\n" + head + date + "### Über\n\n### " + table
	if got != want {
		t.Errorf("within another: got\n%s\nwant\n%s", got, want)
	}
	// The text of one without a clear signature is within the signature.
	doc, err := nativetest.Extract(t, reader(), extract.MSG,
		sent("IPM.Note.SMIME", "\x30\x80\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07\x02\xA0\x80"), extract.Limits{})
	if err != nil || doc.Title != "S" || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "smime.p7m (") ||
		!strings.Contains(doc.Warnings[0], "signed or encrypted as a whole") {
		t.Errorf("signed as a whole: %v, %+v", err, doc.Info)
	}
	// What is not of S/MIME, whatever its class says, is read like any other message.
	got = nativetest.Markdown(t, reader(), extract.MSG, sent("IPM.Note.SMIME", "Some words that are not of S/MIME"))
	if want := "# S\n\n" + head + date + "Text of S.\n\n## smime.p7m\n\nSome words that are not of S/MIME\n"; got != want {
		t.Errorf("not of S/MIME: got\n%s\nwant\n%s", got, want)
	}
}

// TestSignedUnread: of a message whose signed entity can't be read, or is empty, the copy of its text is read.
func TestSignedUnread(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ what, entity, warning string }{
		{"one that fails", "Content-Type: text/plain\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\nA", "smime.p7m (the header of the message"},
		{"an empty one", "Content-Type: multipart/signed; boundary=s\r\n\r\n--s--\r\n", "smime.p7m (no text was found"},
		{
			"one with an encrypted part", "Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n" +
				"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nMIAG\r\n--s--\r\n", "it is encrypted",
		},
	} {
		const class, body = "IPM.Note.SMIME.MultipartSigned", head + "Date: 2026-03-03T10:00:00Z\n\nText of S.\n"
		within := compoundtest.File(join(message("", 32, "Outer"), streams{}.fixed(firstAttachment, 8, nil),
			sentAt(firstAttachment+"__substg1.0_3701000D/", 24, class, tt.entity)))
		for _, content := range [][]byte{sent(class, tt.entity), within} {
			if got := nativetest.Markdown(t, reader(), extract.MSG, content); !strings.HasSuffix(got, "# S\n\n"+body) {
				t.Errorf("%s: got\n%s", tt.what, got)
			}
			doc, err := nativetest.Extract(t, reader(), extract.MSG, content, extract.Limits{})
			if got := strings.Join(doc.Warnings, "\n"); err != nil || !strings.Contains(got, tt.warning) {
				t.Errorf("%s: %v, %q", tt.what, err, got)
			}
		}
	}
}
