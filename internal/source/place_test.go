package source_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/source"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for uri, key := range map[string]string{
		"blob:in/a b.pdf":                        "in/a b.pdf",
		"blob:a?b#c":                             "a?b#c",
		"https://Example.com/a%20b.pdf#page=2":   "https://example.com/a%20b.pdf",
		"https://example.com":                    "https://example.com",
		"https://example.com:8443/x?":            "https://example.com:8443/x",
		"http://127.0.0.1:10000/account/c/a.pdf": "http://127.0.0.1:10000/account/c/a.pdf",
	} {
		if p, problem := source.Parse(uri); problem != "" || p.Key() != key {
			t.Errorf("%s: %q %q, want %q", uri, p.Key(), problem, key)
		}
	}
	for uri, says := range map[string]string{
		"": "scheme", "blob:": "empty", "blob:../a": "..", "blob:/a": `starts with "/"`, "report.pdf": "scheme",
		"http://example.com/a": "https", "http://10.0.0.1/a": "https", "ftp://example.com/a": `"ftp"`,
		"file:///etc/passwd": `"file"`, "https://user:s3cret@example.com/a": "user name", "https:///a": "no host",
		"https:a": "not a URI", "https://a b/": "not a URI", "https://example.com:0/": "port",
		"https://example.com:65536/": "port", "s3://bucket/key": `"s3"`, "https://example.com/\x00": "not a URI",
		"https://example.com/" + strings.Repeat("a", 4096): "longer",
	} {
		if _, problem := source.Parse(uri); !strings.Contains(problem, says) || problem == "" ||
			strings.Contains(problem, "s3cret") {
			t.Errorf("%s: %q, want it refused with %q", uri, problem, says)
		}
	}
}

// A query may be a secret, and tells documents apart: the key has a hash of it. A key has a bounded length.
func TestKey(t *testing.T) {
	t.Parallel()
	key := func(uri string) string {
		p, problem := source.Parse(uri)
		if problem != "" {
			t.Fatalf("%s %s", uri, problem)
		}
		return p.Key()
	}
	one, other := key("https://example.com/a?id=1&key=s3cret"), key("https://example.com/a?id=2&key=s3cret")
	if one == other || strings.Contains(one, "s3cret") || one != key("https://example.com/a?id=1&key=s3cret#x") {
		t.Errorf("%s and %s", one, other)
	}
	long := "https://example.com/" + strings.Repeat("a", 3000)
	if a, b := key(long+"1"), key(long+"2"); a == b || len(a) > 1024 {
		t.Errorf("%d bytes: %s", len(a), a)
	}
}
