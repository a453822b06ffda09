package source

import (
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// maxName limits a name that a server chose, in characters.
const maxName = 200

// filename finds the parameter: to look in lower case would move it in a value that is not UTF-8.
var filename = pattern.New(`(?i)filename=`)

// nameOf is the name of a document that a server sends: as its Content-Disposition says, else the last segment of its
// address, else the host.
func nameOf(h http.Header, address *url.URL) string {
	for _, name := range []string{disposition(h.Get("Content-Disposition")), address.Path, address.Hostname()} {
		if name = clean(name); name != "" {
			return name
		}
	}
	return "document"
}

// disposition is the filename of a Content-Disposition (RFC 6266), also of one that is not quoted as it should be.
func disposition(value string) string {
	_, params, err := mime.ParseMediaType(value)
	name := params["filename"]
	if err != nil || name == "" {
		at := filename.FindStringIndex(value)
		if at == nil {
			return ""
		}
		name, _, _ = strings.Cut(value[at[1]:], ";")
		name = strings.Trim(name, `" `)
	}
	if decoded, err := new(mime.WordDecoder).DecodeHeader(name); err == nil { // RFC 2047, which some servers send
		name = decoded
	}
	return name
}

// clean makes a safe name of what a server says: no folder, nothing invisible, a name that a blob may have. Empty:
// there is none in it.
func clean(name string) string {
	if !utf8.ValidString(name) { // ISO 8859-1, as old servers send it
		runes := make([]rune, 0, len(name))
		for _, b := range []byte(name) {
			runes = append(runes, rune(b))
		}
		name = string(runes)
	}
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, name)
	name = strings.TrimRight(strings.TrimSpace(name), ". ")
	if runes := []rune(name); len(runes) > maxName {
		ext := []rune(path.Ext(name))
		if len(ext) > 20 {
			ext = nil
		}
		name = string(runes[:maxName-len(ext)]) + string(ext)
	}
	if blob.CheckName(name) != nil {
		return ""
	}
	return name
}

// extensions of the content types that distinguish kinds of text.
var extensions = map[string]string{
	"text/markdown": ".md", "text/csv": ".csv", "text/tab-separated-values": ".tsv", "text/html": ".html",
	"text/plain": ".txt", "message/rfc822": ".eml",
}

// Hint is the document's name with an extension, if it has none and the server's content type has one. It helps to tell
// kinds of text apart; everything else is detected by content.
func (f *File) Hint(filename string) string {
	if path.Ext(filename) != "" {
		return filename
	}
	kind, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil {
		return filename
	}
	return filename + extensions[kind]
}
