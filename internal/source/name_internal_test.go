package source

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

func TestNameOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ disposition, address, want string }{
		{`attachment; filename="a b.pdf"`, "https://h/x", "a b.pdf"},
		{`attachment; filename=a b.pdf; size=3`, "https://h/x", "a b.pdf"},
		{`attachment; filename*=UTF-8''%C3%BCber%20uns.pdf; filename="x.pdf"`, "https://h/x", "über uns.pdf"},
		{`attachment; filename="=?UTF-8?B?w7xiZXIucGRm?="`, "https://h/x", "über.pdf"},
		{"attachment; filename=\"\xfcber.pdf\"", "https://h/x", "über.pdf"},
		{`attachment; filename="../../etc/passwd"`, "https://h/x", "passwd"},
		{`attachment; filename="C:\\docs\\a.pdf"`, "https://h/x", "a.pdf"},
		{"attachment; filename=\"invoice\u202efdp.exe\"", "https://h/x", "invoicefdp.exe"},
		{`attachment; filename=".."`, "https://h/b.pdf", "b.pdf"},
		{`attachment; filename=""`, "https://h/b.pdf", "b.pdf"},
		{`inline`, "https://h/d/Jahresbericht%202024.pdf?x=1", "Jahresbericht 2024.pdf"},
		{``, "https://h/a%2Fb.pdf", "b.pdf"},
		{``, "https://h/folder/", "h"},
		{``, "https://www.example.com", "www.example.com"},
		{`garbage;;;`, "https://h/..%2f..", "h"},
	} {
		u, err := url.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := nameOf(http.Header{"Content-Disposition": {c.disposition}}, u); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.disposition, c.address, got, c.want)
		}
	}
	if got := clean(strings.Repeat("ü", 500) + ".pdf"); utf8.RuneCountInString(got) != maxName ||
		!strings.HasSuffix(got, "ü.pdf") {
		t.Errorf("a long name: %q", got)
	}
}

// FuzzNameOf checks that no server chooses a name that leaves a folder or that storage refuses.
func FuzzNameOf(f *testing.F) {
	f.Add(`attachment; filename="../a"`, "/x")
	f.Add("filename=\x00", "/%2e%2e/")
	f.Add("att\xa7\xa7\xa7\xa7\xa7\xa7\xa7\xa7achment; filename=\"../a\"", "$$/U") // it is longer in lower case
	f.Fuzz(func(t *testing.T, disposition, path string) {
		name := nameOf(http.Header{"Content-Disposition": {disposition}}, &url.URL{Scheme: "https", Host: "h", Path: path})
		if err := blob.CheckName(name); err != nil || strings.ContainsAny(name, `/\`) {
			t.Errorf("%q: %v", name, err)
		}
	})
}
