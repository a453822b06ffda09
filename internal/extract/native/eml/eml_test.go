package eml_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func reader() extract.Extractor {
	all := native.Extractors(nil, nil)
	return all[extract.EML]
}

func markdown(t *testing.T, mail string) string {
	t.Helper()
	return nativetest.Markdown(t, reader(), extract.EML, []byte(mail))
}

func read(t testing.TB, mail string) *extract.Document {
	t.Helper()
	doc, err := nativetest.Extract(t, reader(), extract.EML, []byte(mail), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// unread is the warning about attachments.
func unread(doc *extract.Document) string { return strings.Join(doc.Warnings, " ") }

const head = "From: a@example.com\nSubject: S\nMIME-Version: 1.0\n"

// multi makes a multipart of the kind from raw parts.
func multi(kind, boundary string, parts ...string) string {
	return "Content-Type: multipart/" + kind + "; boundary=\"" + boundary + "\"\n\n--" + boundary + "\n" +
		strings.Join(parts, "\n--"+boundary+"\n") + "\n--" + boundary + "--\n"
}

func attach(name string, content []byte) string {
	return "Content-Type: application/octet-stream\nContent-Transfer-Encoding: base64\nContent-Disposition: " +
		"attachment; filename=\"" + name + "\"\n\n" +
		base64.StdEncoding.EncodeToString(content)
}

const (
	plain = "Content-Type: text/plain; charset=utf-8\n\nThe plain text."
	page  = "Content-Type: text/html; charset=utf-8\n\n<p>The page.</p>"
)

func TestText(t *testing.T) {
	t.Parallel()
	from := "# S\n\nFrom: a@example.com\n\n"
	for name, tt := range map[string]struct{ mail, want string }{
		"head": {
			"From: =?utf-8?Q?J=C3=BCrgen_M=C3=BCller?= <j@example.com>\r\nTo: \"Doe, Jane\" <jane@example.com>,\r\n " +
				"bob@example.com\r\nCc: =?iso-8859-1?B?6Q==?= <e@example.com>\r\n" +
				"Subject: =?windows-1252?Q?10_=80?= and\r\n\tmore\r\nDate: Tue, 3 Mar 2026 10:00:00 " +
				"+0100\r\n\r\nText.\r\n",
			"# 10 € and more\n\nFrom: Jürgen Müller &lt;j@example.com>\n\nTo: \"Doe, Jane\" &lt;jane@example.com>, " +
				"bob@example.com\n\nCc: é &lt;e@example.com>\n\nDate: 2026-03-03T10:00:00+01:00\n\nText.\n",
		},
		"mbox line":      {"From a@example.com Tue Mar  3 10:00:00 2026\n" + head + "\nText.", from + "Text.\n"},
		"malformed head": {head + "what is this\n\nText.", from + "Text.\n"},
		"quoted-printable": {head + "Content-Type: text/plain; charset=iso-8859-15\nContent-Transfer-Encoding: " +
			"quoted-printable\n\n10 =A4 =\nmore 1=2 =3D\n", from + "10 € more 1=2 =\n"},
		"soft break, blanks": {
			head + "Content-Transfer-Encoding: quoted-printable\n\na=  \r\nb==\nc",
			from + "ab=c\n",
		},
		"base64": {head + "Content-Type: text/plain; charset=koi8-r\nContent-Transfer-Encoding: " +
			"BASE64\n\n8NLJ\n !\n", from + "При\n"},
		"shift_jis": {
			head + "Content-Type: text/plain; charset=Shift_JIS\n\n\x93\xfa\x96\x7b",
			from + "日本\n",
		},
		"8 bit, undeclared":   {head + "\nGr\xfc\xdfe", from + "Grüße\n"},
		"utf-8 said to be us": {head + "Content-Type: text/plain; charset=us-ascii\n\nGrüße", from + "Grüße\n"},
		"HTML alone": {head + "Content-Type: text/html; charset=iso-8859-1\n\n<meta " +
			"charset=utf-8><h1>A</h1><p>\xfc</p>", from + "## A\n\nü\n"},
		"plain before HTML": {head + multi("alternative", "b", plain, page), from + "The plain text.\n"},
		"plain says nothing": {
			head + multi("alternative", "b", "Content-Type: text/plain\n\nNo HTML?",
				"Content-Type: text/html\n\n<p>"+strings.Repeat("A page of words. ", 5)+"</p>"),
			from + strings.TrimSpace(strings.Repeat("A page of words. ", 5)) + "\n",
		},
		"HTML with its images": {
			head + multi("alternative", "b",
				multi("related", "c", page, "Content-Type: image/png; name=logo.png\nContent-ID: <x>\n\nPNG")),
			from + "The page.\n",
		},
		"signature": {head + multi("signed", "b", plain,
			"Content-Type: application/pgp-signature; name=s.asc\n\n-----BEGIN"), from + "The plain text.\n"},
		"boundary in boundary": {
			head + multi("mixed", "b", multi("mixed", "bb", plain), "\nMore."),
			from + "The plain text.\n\nMore.\n",
		},
		"no boundary": {head + "Content-Type: multipart/mixed\n\nText.", from + "Text.\n"},
		"text in parts": {head + multi("mixed", "b", plain,
			"Content-Type: text/plain\nContent-Disposition: inline\n\nFooter."), from + "The plain text.\n\nFooter.\n"},
		"NUL": {head + "\nA\x00B", from + "AB\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.NewReplacer("\\\n", "\n", "  \n", "\n").Replace(markdown(t, tt.mail))
			if want := strings.ReplaceAll(tt.want, "\\\n", "\n"); got != want {
				t.Errorf("got\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// pkcs7 is the start of the object identifiers of PKCS #7 in DER.
const pkcs7 = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07"

func TestAttachments(t *testing.T) {
	t.Parallel()
	inner := "Subject: Inner\nFrom: b@example.com\n\nInner text."
	for name, tt := range map[string]struct{ part, want, unread string }{
		"text":          {attach("n.txt", []byte("Notes.")), "## n.txt\n\nNotes.\n", ""},
		"headings":      {attach("n.md", []byte("# A\n\nNotes.")), "## n.md\n\n### A\n\nNotes.\n", ""},
		"RFC 2047 name": {attach("=?utf-8?Q?=C3=BC.txt?=", []byte("Notes.")), "## ü.txt\n\nNotes.\n", ""},
		"RFC 2231 name": {strings.Replace(attach("n", []byte("Notes.")), `filename="n"`,
			"filename*0*=iso-8859-1'de'%FC; filename*1=ber.txt", 1), "## über.txt\n\nNotes.\n", ""},
		"name with path": {attach("C:\\\\x\\\\n.txt", []byte("Notes.")), "## n.txt\n\nNotes.\n", ""},
		"no name": {
			"Content-Type: application/x-y\n\nNotes of nobody.",
			"## attachment 1\n\nNotes of nobody.\n", "",
		},
		"message": {
			"Content-Type: message/rfc822\n\n" + inner,
			"## Inner\n\nFrom: b@example.com\n\nInner text.\n", "",
		},
		"attached .eml": {attach("x.eml", []byte(inner)), "## Inner\n\nFrom: b@example.com\n\nInner text.\n", ""},
		"unknown kind": {
			attach("x.bin", []byte{0, 1, 2, 3}), "Attachment: x.bin\n",
			"x.bin (this kind of file can't be read)",
		},
		"empty": {
			attach("x.txt", nil), "Attachment: x.txt\n",
			"x.txt (the file is empty (0 bytes): upload it again)",
		},
		"damaged": {
			attach("x.docx", []byte("PK\x03\x04 and no more")), "Attachment: x.docx\n",
			"x.docx (the file is damaged",
		},
		"encrypted inner": {"Content-Type: multipart/encrypted; boundary=c\n\n--c--", "", "it is encrypted"},
		"an envelope that states nothing": {
			strings.Replace(attach("smime.p7m", []byte("\x30\x80"+pkcs7+"\x03\xA0\x80")), "application/octet-stream", "application/pkcs7-mime", 1),
			"", "it is encrypted",
		},
		"an envelope in base64 that states nothing": {
			"Content-Type: application/pkcs7-mime; name=smime.p7m\n\n" + base64.StdEncoding.EncodeToString([]byte("\x30\x80"+pkcs7+"\x03\xA0\x80")),
			"", "it is encrypted",
		},
		"a signed one in base64 that states nothing": {
			"Content-Type: application/pkcs7-mime; name=smime.p7m\n\n" + base64.StdEncoding.EncodeToString([]byte("\x30\x80"+pkcs7+"\x02\xA0\x80")),
			"Attachment: smime.p7m\n", "signed or encrypted as a whole",
		},
		"an envelope of another kind": {
			strings.Replace(attach("smime.p7m", []byte("\x30\x80"+pkcs7+"\x05\xA0\x80")), "application/octet-stream", "application/pkcs7-mime", 1),
			"Attachment: smime.p7m\n", "signed or encrypted as a whole",
		},
		"an attached envelope that is encrypted with authentication": {
			attach("smime.p7m", []byte("\x30\x80\x06\x0B\x2A\x86\x48\x86\xF7\x0D\x01\x09\x10\x01\x17\xA0\x80")),
			"Attachment: smime.p7m\n", "signed or encrypted as a whole",
		},
		"an envelope that is signed": {
			strings.Replace(attach("smime.p7m", []byte("\x30\x80"+pkcs7+"\x02\xA0\x80")), "application/octet-stream", "application/pkcs7-mime", 1),
			"Attachment: smime.p7m\n", "signed or encrypted as a whole",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mail := head + multi("mixed", "b", plain, tt.part)
			_, got, _ := strings.Cut(markdown(t, mail), "The plain text.\n\n")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if got := unread(read(t, mail)); !strings.Contains(got, tt.unread) || (got == "") != (tt.unread == "") {
				t.Errorf("%q, want %q", got, tt.unread)
			}
		})
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	doc := read(t, "Message-ID: <1@x>\nTo: b@example.com\nX-Mailer: G 1\nDate: 3 Mar 2026 10:00 +0000\n"+head+
		multi("mixed", "b", plain, attach("a.txt", []byte("\fA page"))))
	p := doc.Properties
	if doc.Title != "S" || doc.Extractor != "native/eml" || p["author"] != "a@example.com" ||
		p["recipients"] != "b@example.com" ||
		p["created"] != "2026-03-03T10:00:00Z" || p["message_id"] != "1@x" || p["attachments"] != "1" ||
		p["producer"] != "G 1" {
		t.Errorf("%+v", doc.Info)
	}
	for _, b := range doc.Blocks {
		if b.Page != 0 || b.Box != nil {
			t.Errorf("an attachment's page: %+v", b)
		}
	}
}

// When an extractor of attachments changes, messages are read again.
func TestNameFollowsTheParts(t *testing.T) {
	t.Parallel()
	all := native.Extractors(nil, nil)
	more := native.Extractors(all[extract.Text], nil)
	if all[extract.EML].Name() == more[extract.EML].Name() || all[extract.EML].Name() != reader().Name() {
		t.Errorf("%s, %s", all[extract.EML].Name(), more[extract.EML].Name())
	}
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	doc := read(t, head+"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nThe text goes on un")
	if !strings.Contains(unread(doc), "cut off") || doc.Blocks[len(doc.Blocks)-1].Text != "The text goes on un" {
		t.Errorf("%+v %+v", doc.Blocks, doc.Warnings)
	}
}

func TestStopsWithTheTask(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mail.eml")
	if err := os.WriteFile(path, []byte(head+multi("mixed", "b", plain, attach("a.txt", []byte("Notes.")))),
		0o600); err != nil {
		t.Fatal(err)
	}
	src := extract.Source{Path: path, Format: extract.EML}
	errStop := taskerr.Errorf(taskerr.QuotaExceeded, "stop") // of a class with which an attachment may fail
	for at := range 5 {                                      // head, from, text, name, notes
		ctx, cancel := context.WithCancelCause(t.Context())
		n := 0
		_, err := reader().Extract(ctx, src, extract.Limits{}, func(extract.Block) error {
			if n++; n > at {
				return errStop
			}
			return nil
		})
		if !errors.Is(err, errStop) || n != at+1 {
			t.Errorf("an error of emit at block %d: %v", at, err)
		}
		n = 0
		_, err = reader().Extract(ctx, src, extract.Limits{}, func(extract.Block) error {
			if n++; n > at {
				cancel(errStop)
			}
			return nil
		})
		if at < 4 && !errors.Is(err, errStop) {
			t.Errorf("a cancel at block %d: %v", at, err)
		}
		cancel(nil)
	}
}

func FuzzMail(f *testing.F) {
	f.Add([]byte(head + multi("mixed", "b", plain, attach("a.txt", []byte("Notes.")))))
	f.Add([]byte(head + multi("alternative", "b", plain, multi("related", "c", page))))
	f.Add([]byte(head + "Content-Type: message/rfc822\n\n" + head +
		"Content-Transfer-Encoding: quoted-printable\n\na=C3=BC=\nb"))
	f.Add([]byte("Subject: =?utf-8?B?w7w=?=\nContent-Type: text/html; charset=utf-16le; " +
		"name*0*=iso-8859-1'x'%FC\n\n<\x00p\x00>\x00"))
	f.Add([]byte(head + "Content-Type: text/plain; format=flowed; delsp=yes\n\n>> a \n>> b\n c \n-- \nd"))
	e := reader()
	f.Fuzz(func(t *testing.T, mail []byte) { nativetest.Fuzz(t, e, extract.EML, mail) })
}
