package eml

import (
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
)

// body reads a text part that is shown.
func (w *walker) body(h header, kind string, params map[string]string, r io.Reader, depth int) error {
	path, err := w.files.Save(asText(kind, params, transferred(h, r)))
	if err != nil {
		return err
	}
	return w.show(path, textFormat(kind), depth)
}

func textFormat(kind string) extract.Format {
	if kind == "text/html" {
		return extract.HTML
	}
	return extract.Text
}

// show emits a text as part of the message.
func (w *walker) show(path string, format extract.Format, depth int) error {
	return w.read(path, format, func(b extract.Block) error {
		b.Level = nested.Below(b, depth+1)
		return w.files.Put(b)
	})
}

// versions are the saved texts of a multipart/alternative.
type versions struct {
	plain, html []string
	calendar    string // path of an invitation, or ""
}

// alternative chooses between versions of one text (RFC 2046, section 5.1.4). It takes the plain text, because
// its layout can't be mistaken for content, unless that lacks much of what the HTML version says.
func (w *walker) alternative(boundary string, r io.Reader, depth int) error {
	var v versions
	if err := w.collect(&v, boundary, r); err != nil {
		return err
	}
	chosen, format := v.plain, extract.Text
	if len(v.html) > 0 {
		plain, err := w.words(v.plain, extract.Text)
		if err != nil {
			return err
		}
		page, err := w.words(v.html, extract.HTML)
		if err != nil {
			return err
		}
		if !plain.says(page) {
			chosen, format = v.html, extract.HTML
		}
	}
	for _, path := range chosen {
		if err := w.show(path, format, depth); err != nil {
			return err
		}
	}
	if v.calendar != "" {
		return w.invitation(v.calendar)
	}
	return nil
}

// collect collects the versions, also those nested with a page's images in a multipart.
func (w *walker) collect(v *versions, boundary string, r io.Reader) error {
	return w.each(boundary, r, func(h header, body io.Reader) error {
		kind, params := h.contentType()
		name := h.fileName()
		switch {
		case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" && w.nest < maxNest:
			w.nest++
			defer func() { w.nest-- }()
			return w.collect(v, params["boundary"], body)
		case kind == "text/plain" && isBody(h, kind, name), kind == "text/html" && isBody(h, kind, name):
			path, err := w.files.Save(asText(kind, params, transferred(h, body)))
			if kind == "text/html" {
				v.html = append(v.html, path)
			} else {
				v.plain = append(v.plain, path)
			}
			return err
		case kind == "text/calendar" && !h.attached() && v.calendar == "":
			var err error
			v.calendar, err = w.files.Save(asText(kind, params, transferred(h, body)))
			return err
		case !h.attached() && (name == "" || decorative(h, kind) || kind == "text/calendar"):
			return nil // another version of the same text, or decoration
		}
		return w.attachment(transferred(h, body), name)
	})
}

// words returns the words of the versions.
func (w *walker) words(paths []string, format extract.Format) (*words, error) {
	all := &words{seen: map[string]struct{}{}}
	for _, path := range paths {
		if err := w.read(path, format, func(b extract.Block) error { // a trial run: it emits nothing
			all.add(b)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}
