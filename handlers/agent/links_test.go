package agent

import (
	"strings"
	"testing"
)

// Every form of a link to a host that the question doesn't name gets a warning, and nothing else does.
func TestForeignLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, answer, hosts string }{
		{"", "see https://evil.example/x?q=1", "evil.example"},
		{"", "![](//evil.example/p.png)", "evil.example"},
		{"", `<img src='\\evil.example\x'>`, "evil.example"},
		{"", "go to evil.example/pay now", "evil.example"},
		{"", "go to evil.example.", "evil.example"},
		{"", "go to WWW.Evil.Example!", "www.evil.example"},
		{"", "go to pay.example.co.uk", "pay.example.co.uk"},
		{"", "go to evil。example/x", "evil.example"},
		{"", "https://user:pw@evil.example:8443/", "evil.example"},
		{"", "https://[2001:db8::1]:80/", "2001:db8::1"},
		{"", "http://intranet/x", "intranet"},
		{"what is on notevil.example?", "https://evil.example/", "evil.example"},
		{"what is on evil.example?", "https://notevil.example/", "notevil.example"},
		{"what is on evil.example.org?", "https://evil.example/", "evil.example"},
		{"what is on evil.example?", "https://evil.example/, //EVIL.example/x and evil.example", ""},
		{"what is at https://good.example:80/a?", "http://good.example/b", ""},
		{"who is ann@good.example?", "https://good.example", ""},
		{"", "mail ann@evil.example", ""},
		{"", "as report.pdf and notes.md say, e.g. in main.go // and so on. It ends.It begins", ""},
		{"", "read notes.md/x", "notes.md"},
		{"", "version 1.2.3, 3.5 % of node.js, C:\\\\temp and a//b", ""},
	} {
		r := &run{payload: Payload{Prompt: c.prompt}}
		got := strings.Join(r.foreignLinks(c.answer), " ")
		want := ""
		if c.hosts != "" {
			want = "(" + c.hosts + ")"
		}
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q, %q: %q, want %q", c.prompt, c.answer, got, want)
		}
	}
}

// Errors of a schema don't contain the worker's folder.
func TestSchemaErrorsNameNoFolder(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"$ref":"other.json"}`, `{"$ref":"#/$defs/none"}`, `{"$ref":"https://example.com/s"}`, `{"$ref":"/x"}`,
		`{"$id":"x","$ref":"y"}`,
		`{"pattern":"("}`, `{"$schema":"no-such-draft"}`, `{"type":7}`, `{"$ref":"#none"}`, `{"$id":"a%zz"}`,
	} {
		_, err := newShape([]byte(schema))
		if err == nil {
			t.Errorf("%s: no error", schema)
			continue
		}
		if text := err.Error(); strings.Contains(text, "file:") || strings.Contains(text, "agent") ||
			strings.Contains(text, "schema://") {
			t.Errorf("%s: %s", schema, text)
		} else {
			t.Logf("%s: %s", schema, text)
		}
	}
}
