package docx

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
)

const maxNested = 4 // multiparts within each other

// archivedPage returns the page in a web archive (MHTML, RFC 2557): its first part of text. ok is false for other files.
func archivedPage(head []byte, r io.Reader) (page io.Reader, ok bool) {
	if !isArchive(head) {
		return nil, false
	}
	message, err := mail.ReadMessage(r)
	if err != nil {
		return strings.NewReader(""), true
	}
	header := message.Header
	return firstText(header.Get("Content-Type"), header.Get("Content-Transfer-Encoding"), message.Body, 0), true
}

// firstText returns the first text within a body, decoded; it is empty if there is none.
func firstText(contentType, encoding string, body io.Reader, depth int) io.Reader {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = "text/html"
	}
	if strings.HasPrefix(kind, "multipart/") && depth < maxNested {
		parts := multipart.NewReader(body, parameters["boundary"])
		for range 1000 {
			part, err := parts.NextRawPart()
			if err != nil {
				break
			}
			inner := part.Header.Get("Content-Type")
			if strings.HasPrefix(inner, "text/html") || strings.HasPrefix(inner, "multipart/") ||
				strings.HasPrefix(inner, "application/xhtml") {
				return firstText(inner, part.Header.Get("Content-Transfer-Encoding"), part, depth+1)
			}
		}
		return strings.NewReader("")
	}
	if !strings.HasPrefix(kind, "text/") && kind != "application/xhtml+xml" {
		return strings.NewReader("")
	}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	if charset := parameters["charset"]; charset != "" && !strings.ContainsAny(charset, `"<>`) {
		// The page may rely on the header; a declaration of its own comes later and would be ignored.
		return io.MultiReader(strings.NewReader(`<html><meta charset="`+charset+`">`), body)
	}
	return body
}

// isArchive recognizes a web archive (RFC 2557) by its header.
func isArchive(head []byte) bool {
	end := bytes.Index(head, []byte("\n\n"))
	if crlf := bytes.Index(head, []byte("\r\n\r\n")); crlf >= 0 && (end < 0 || crlf < end) {
		end = crlf
	}
	if end < 0 {
		return false
	}
	header := bytes.ToLower(head[:end])
	return bytes.Contains(header, []byte("mime-version:")) || bytes.Contains(header, []byte("content-type: multipart/"))
}
