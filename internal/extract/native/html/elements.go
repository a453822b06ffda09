package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isBlock reports whether browsers separate the element from the text around it (WHATWG HTML, 15.3).
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Details,
		atom.Dialog, atom.Div, atom.Fieldset, atom.Figure, atom.Footer, atom.Form, atom.Header,
		atom.Hgroup, atom.Html, atom.Legend, atom.Main, atom.Option, atom.P, atom.Section, atom.Summary,
		atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Search:
		return true
	}
	return false
}

// skipped reports whether an element has no text of the document: controls, media, navigation, the page's
// footer, hidden elements.
func skipped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Canvas, atom.Audio, atom.Video,
		atom.Input, atom.Datalist, atom.Meter, atom.Progress, atom.Nav, atom.Rp, atom.Rt, atom.Map:
		return true
	case atom.Button: // of an accordion it is the title
		if !within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Summary) {
			return true
		}
	case atom.Footer:
		if !within(n, atom.Article, atom.Blockquote, atom.Section) {
			return true
		}
	}
	switch strings.ToLower(attr(n, "role")) {
	case "navigation", "search", "contentinfo", "menubar", "toolbar":
		return true
	}
	return hidden(n)
}

func within(n *html.Node, ancestors ...atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if slices.Contains(ancestors, p.DataAtom) {
			return true
		}
	}
	return false
}

func hidden(n *html.Node) bool {
	if n.DataAtom == atom.Dialog && !hasAttr(n, "open") || attr(n, "aria-hidden") == "true" {
		return true
	}
	// Browsers search what is hidden until it is found, and show it then (WHATWG HTML, 6.1).
	if hasAttr(n, "hidden") && !strings.EqualFold(attr(n, "hidden"), "until-found") {
		return true
	}
	style := strings.ToLower(strings.ReplaceAll(attr(n, "style"), " ", ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// hasHeading reports whether the page shows a heading outside of tables.
func hasHeading(n *html.Node) bool {
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || c.DataAtom == atom.Table || skipped(c) {
			continue
		}
		switch c.DataAtom {
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			return true
		}
		if hasHeading(c) {
			return true
		}
	}
	return false
}
