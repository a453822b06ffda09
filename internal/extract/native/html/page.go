package html

import (
	"context"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
)

// Page is an XHTML page of a larger document.
type Page struct {
	root     *html.Node
	warnings []string
}

// ParsePage parses a UTF-8 page as XHTML: a self-closing element is empty even where HTML would not allow it.
// Errors are those of Extract.
func ParsePage(ctx context.Context, r io.Reader, limits extract.Limits) (Page, error) {
	limits = limits.WithDefaults()
	s := simplify(ctx, r, 4*limits.Characters, limits)
	s.xhtml = true
	root, err := html.Parse(s)
	if err != nil {
		return Page{}, explain(ctx, err)
	}
	return Page{root, s.warnings()}, nil
}

// Warnings say what was not read of the page.
func (p Page) Warnings() []string { return p.warnings }

// HasHeading reports whether the page shows a heading outside of tables.
func (p Page) HasHeading() bool { return hasHeading(p.root) }

// Emit emits the page's blocks. Errors are those of emit.
// resolve makes the target of a link of its address.
func (p Page) Emit(ctx context.Context, resolve func(href string) string, emit extract.Emit) error {
	w := &walker{ctx: ctx, emit: flow.Items(emit), resolve: resolve}
	if err := w.walk(p.root); err != nil {
		return err
	}
	return w.flush()
}

// isVoid reports whether an element has no end tag in HTML (WHATWG HTML, 13.1.2).
func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta,
		atom.Param,
		atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// empty handles a self-closing XHTML element.
func (s *simplifier) empty(t html.Token) error {
	s.z.NextIsNotRawText()
	s.tags.raw = false
	if removed[t.Data] {
		return nil
	}
	t.Type = html.StartTagToken
	if err := s.start(t); err != nil {
		return err
	}
	return s.end(t.Data)
}
