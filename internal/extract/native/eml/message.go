package eml

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxNest  = 32   // nesting of multiparts in a message
	maxParts = 2000 // parts of a message, including those of nested messages
)

// walker reads one message and everything in it.
type walker struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call of Extract
	files *nested.Reader
	seen  int        // parts so far
	nest  int        // current nesting of multiparts
	kept  []attached // the attachments of the message being read
	size  int64      // of that message, or of one around it
}

// message reads a message: its header, its text, then its attachments. Text that comes after an attachment is still the
// message's: under the heading of the attachment it would read as a part of that. size is the message's own.
func (w *walker) message(r *bufio.Reader, size int64, depth int) (header, error) {
	defer func(kept []attached, size int64) { w.kept, w.size = kept, size }(w.kept, w.size)
	w.kept, w.size = nil, size
	if first, _ := r.Peek(3); string(first) == "\xEF\xBB\xBF" {
		_, _ = r.Discard(3) // peeked above
	}
	h, err := readHeader(r)
	if err != nil {
		return h, err
	}
	if len(h.MIMEHeader) == 0 && depth == 0 {
		return h, taskerr.Errorf(taskerr.CorruptionDetected,
			"the file has no e-mail header (From, Date, Subject): it is not an e-mail, or it is damaged")
	}
	if err := w.head(h, depth); err != nil {
		return h, err
	}
	if err := w.part(h, r, depth); err != nil {
		return h, err
	}
	return h, w.attachments(depth)
}

// head emits the header fields that a reader sees.
func (w *walker) head(h header, depth int) error {
	if err := w.files.Put(extract.Block{Kind: extract.Heading, Level: depth + 1, Text: h.text("Subject")}); err != nil {
		return err
	}
	for _, field := range []struct{ name, text string }{
		{"From", h.author()}, {"To", h.addresses("To")}, {"Cc", h.addresses("Cc")}, {"Date", h.date()},
	} {
		if field.text == "" {
			continue
		}
		if err := w.files.Put(extract.Block{Kind: extract.Paragraph, Text: field.name + ": " + field.text}); err != nil {
			return err
		}
	}
	return nil
}

// part reads one part of any type of a message. r is its body.
func (w *walker) part(h header, r io.Reader, depth int) error {
	if w.seen++; w.seen > maxParts {
		return taskerr.Errorf(taskerr.QuotaExceeded, "the message has more than %d parts: it is not read", maxParts)
	}
	kind, params := h.contentType()
	name := h.fileName()
	switch {
	case kind == "multipart/encrypted":
		return w.sealed(depth)
	case strings.HasSuffix(kind, "pkcs7-mime"):
		return w.envelope(h, params["smime-type"], r, name, depth)
	case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "":
		return w.multipart(kind, params["boundary"], r, depth)
	case kind == "message/rfc822" || kind == "message/global":
		return w.forwarded(transferred(h, r), name, depth)
	case strings.HasSuffix(kind, "-signature"):
		return nil
	case isBody(h, kind, name):
		return w.body(h, kind, params, r, depth)
	case decorative(h, kind):
		return nil
	}
	return w.attachment(transferred(h, r), name)
}

// isBody reports whether a part is text to show rather than a file. A part with a name is shown only if it is
// marked inline.
func isBody(h header, kind, name string) bool {
	switch {
	case h.attached(), name != "" && h.Get("Content-Disposition") == "":
		return false
	case kind == "text/plain" || kind == "text/html":
		return true
	case name != "" || kind == "text/calendar" || kind == "text/csv" || isCode(kind):
		return false
	}
	// A multipart without a boundary is shown as text.
	return strings.HasPrefix(kind, "text/") || strings.HasPrefix(kind, "multipart/") ||
		kind == "message/delivery-status"
}

// decorative reports whether a part only serves the page, such as a logo or a style sheet.
func decorative(h header, kind string) bool {
	referenced := h.Get("Content-Id") != "" || h.Get("Content-Location") != ""
	switch {
	case h.attached():
		return false
	case isCode(kind):
		return referenced || h.fileName() == ""
	}
	return referenced && strings.HasPrefix(kind, "image/")
}

// isCode reports whether a part is a style sheet or a script.
func isCode(kind string) bool { return kind == "text/css" || kind == "text/javascript" }

// sealed handles an encrypted message or part.
func (w *walker) sealed(depth int) error {
	if depth == 0 && w.nest == 0 {
		return extract.ErrEncrypted
	}
	w.files.Missed("a part of the message", "it is encrypted")
	return nil
}

func (w *walker) multipart(kind, boundary string, r io.Reader, depth int) error {
	if w.nest >= maxNest {
		w.files.Missed("a part of the message", fmt.Sprintf("it is nested more than %d deep", maxNest))
		return nil
	}
	w.nest++
	defer func() { w.nest-- }()
	switch kind {
	case "multipart/alternative":
		return w.alternative(boundary, r, depth)
	case "multipart/related":
		return w.related(boundary, r, depth)
	}
	return w.each(boundary, r, func(h header, body io.Reader) error { return w.part(h, body, depth) })
}

// related reads a page and the files that it refers to. Of a web archive (MHTML, RFC 2557) it reads the page alone:
// the frames, pictures and fonts have a location instead of the name that an attachment has.
func (w *walker) related(boundary string, r io.Reader, depth int) error {
	archive := false
	return w.each(boundary, r, func(h header, body io.Reader) error {
		kind, _ := h.contentType()
		page, located := kind == "text/html", h.Get("Content-Location") != ""
		if archive && (page || located) && !h.attached() && h.fileName() == "" {
			return nil
		}
		archive = archive || page && located
		return w.part(h, body, depth)
	})
}

// each calls do for each part. A truncated multipart ends where its data ends.
func (w *walker) each(boundary string, r io.Reader, do func(header, io.Reader) error) error {
	parts := multipart.NewReader(r, boundary)
	for {
		part, err := parts.NextRawPart()
		if w.ctx.Err() != nil {
			return fmt.Errorf("read a message: %w", context.Cause(w.ctx))
		}
		if part == nil {
			if !errors.Is(err, io.EOF) {
				w.files.Missed("the rest of the message", "it is damaged")
			}
			return nil
		}
		if err := do(header{part.Header}, part); err != nil {
			return err
		}
	}
}
