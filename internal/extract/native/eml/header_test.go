package eml_test

import (
	"strings"
	"testing"
)

// One malformed parameter must not cost the others: without its boundary, a message is raw MIME.
func TestMalformedParameters(t *testing.T) {
	t.Parallel()
	const koi8 = "\n\n\xf0\xd2\xc9\xd7\xc5\xd4"
	parts := func(kind, boundary string) string {
		return "Content-Type: multipart/" + kind + "\n\n--" + boundary + "\n" + plain + "\n--" + boundary + "--\n"
	}
	named := func(disposition string) string {
		return multi("mixed", "b", "Content-Type: text/plain\nContent-Disposition: attachment; "+disposition+"\n\nNotes.")
	}
	for name, tt := range map[string]struct{ mail, want string }{
		"slash":                      {parts("related; type=text/html; boundary=MErelboundary-1", "MErelboundary-1"), "The plain text.\n"},
		"boundary with equals signs": {parts("mixed; boundary=----=_Part_1", "----=_Part_1"), "The plain text.\n"},
		"no closing quote":           {parts(`mixed; boundary="b1`, "b1"), "The plain text.\n"},
		"charset before a malformed name": {
			"Content-Type: text/plain; charset=koi8-r; name=a b.txt\nContent-Disposition: inline" + koi8, "Привет\n",
		},
		"charset with a comment": {"Content-Type: text/plain; charset=koi8-r (Russian)" + koi8, "Привет\n"},
		"duplicate":              {"Content-Type: text/plain; charset=koi8-r; charset=utf-8" + koi8, "Привет\n"},
		"name with blanks":       {named("filename=Annual report 2023.txt"), "## Annual report 2023.txt\n\nNotes.\n"},
		"name before a size":     {named("filename=An: (1).txt ; size=5"), "## An: (1).txt\n\nNotes.\n"},
		"name with quotes":       {named(`filename="a \"b\".txt"; x=a/b`), "## a \"b\".txt\n\nNotes.\n"},
		"name in UTF-8":          {named("filename=Übersicht.txt"), "## Übersicht.txt\n\nNotes.\n"},
		"extended name":          {named("filename*=utf-8''%C3%BCber%20uns.txt; x=a/b"), "## über uns.txt\n\nNotes.\n"},
		"extended name in parts": {
			named("x=a/b; filename*0*=iso-8859-1'de'%FC; filename*1=ber.txt"), "## über.txt\n\nNotes.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, _ := strings.Cut(markdown(t, head+tt.mail), "From: a@example.com\n\n")
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestEncodedWordsInQuotes(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		`"=?UTF-8?q?Christian=20K=C3=B6nig?=" <c@example.com>`:         "Christian König <c@example.com>",
		`"=?UTF-8?q?K=C3=B6nig=2C_Christian?=" <c@example.com>`:        `"König, Christian" <c@example.com>`,
		`"=?utf-8?B?5pel?= =?utf-8?B?5pys?=" <c@example.com>, d@x.org`: "日本 <c@example.com>, d@x.org",
		`"=?no-such?q?x?=" <c@example.com>`:                            `=?no-such?q?x?= <c@example.com>`,
	} {
		if doc := read(t, "From: "+from+"\nSubject: S\n\nText."); doc.Properties["author"] != want {
			t.Errorf("%s: got %s, want %s", from, doc.Properties["author"], want)
		}
	}
}
