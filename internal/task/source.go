package task

import (
	"net/url"
	"strings"
)

// RedactSource returns a source_uri as lists and headings show it: the name of a blob as it is, an address without login,
// query and fragment, which may be secrets. Of what isn't an address it returns nothing: where a secret would end in it is
// unknown.
func RedactSource(uri string) string {
	if strings.HasPrefix(uri, "blob:") {
		return uri
	}
	u, err := url.Parse(uri)
	if err != nil || u.Opaque != "" {
		return ""
	}
	if i := strings.IndexAny(uri, "?#"); i >= 0 {
		uri = uri[:i]
	}
	if u.User == nil {
		return uri
	}
	scheme, rest, _ := strings.Cut(uri, "//")
	host, path, slash := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if slash {
		path = "/" + path
	}
	return scheme + "//" + host + path
}
