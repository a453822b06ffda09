package mutants

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// balance makes changed XML well-formed again: an XML reader stops at the first error, and the code behind it would
// get few mutants.
func balance(content []byte) []byte {
	var out bytes.Buffer
	var open []string
	for _, p := range pieces(content) {
		switch {
		case p[0] != '<':
			out.Write(plain(p))
		case bytes.HasPrefix(p, []byte("<?xml ")) && out.Len() == 0:
			out.WriteString(`<?xml version="1.0" encoding="UTF-8"?>`)
		case bytes.HasPrefix(p, []byte("</")):
			open = endTag(&out, open, strings.TrimSpace(strings.Trim(string(p), "</>")))
		case element.Match(p):
			open = balancedStart(&out, open, p)
		}
	}
	for _, name := range slices.Backward(open) {
		out.WriteString("</" + name + ">")
	}
	return out.Bytes()
}

// endTag closes the open elements down to this one; an element that is not open is left out.
func endTag(out *bytes.Buffer, open []string, name string) []string {
	from := max(0, len(open)-8)
	at := slices.Index(open[from:], name)
	if at < 0 {
		return open
	}
	for _, inner := range slices.Backward(open[from+at:]) {
		out.WriteString("</" + inner + ">")
	}
	return open[:from+at]
}

// balancedStart writes a start tag with each of its attributes once.
func balancedStart(out *bytes.Buffer, open []string, tag []byte) []string {
	name := string(element.FindSubmatch(tag)[1])
	out.WriteString("<" + name)
	seen := map[string]bool{}
	for _, a := range attribute.FindAllSubmatch(tag, -1) {
		key := string(a[1])
		if seen[key] || strings.Trim(key, ":.-0123456789") == "" || key[0] < 'A' || strings.HasSuffix(key, ":") {
			continue
		}
		seen[key] = true
		out.WriteString(" " + key + `="`)
		out.Write(bytes.ReplaceAll(plain(a[2][1:len(a[2])-1]), []byte(`"`), []byte("&quot;")))
		out.WriteString(`"`)
	}
	if bytes.HasSuffix(tag, []byte("/>")) {
		out.WriteString("/>")
		return open
	}
	out.WriteString(">")
	return append(open, name)
}

// plain removes what XML doesn't allow in text; it keeps entities and special characters.
func plain(text []byte) []byte {
	text = bytes.Map(func(r rune) rune {
		switch {
		case r == '<', r == utf8.RuneError, r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			return -1
		}
		return r
	}, text)
	parts := bytes.Split(text, []byte("&"))
	for i, part := range parts[1:] {
		known := false
		for _, entity := range []string{"amp;", "lt;", "gt;", "quot;", "apos;"} {
			known = known || bytes.HasPrefix(part, []byte(entity))
		}
		if !known {
			parts[i+1] = append([]byte("amp;"), part...)
		}
	}
	return bytes.Join(parts, []byte("&"))
}
