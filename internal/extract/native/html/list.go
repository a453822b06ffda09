package html

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

func (w *walker) list(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	l := &list{ordered: n.DataAtom == atom.Ol, terms: n.DataAtom == atom.Dl && hasTerm(n), next: 1}
	if first, err := strconv.Atoi(attr(n, "start")); err == nil {
		l.next = first
	}
	w.lists = append(w.lists, l)
	err := w.block(n)
	w.lists = w.lists[:len(w.lists)-1]
	return err
}

// listItem reads an li, dt or dd. A definition (dd) is an item below its term; a dl without terms only indents.
func (w *walker) listItem(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	level := max(len(w.lists)-1, 0)
	marker := "-"
	last := &list{}
	if len(w.lists) > 0 {
		last = w.lists[len(w.lists)-1]
	}
	switch {
	case n.DataAtom == atom.Dd && !last.terms:
		return w.block(n)
	case n.DataAtom == atom.Dd:
		level++
	case last.ordered:
		if value, err := strconv.Atoi(strings.TrimSpace(attr(n, "value"))); err == nil {
			last.next = value
		}
		marker = extract.Marker(last.next)
		last.next++
	}
	w.item = &item{marker: marker, level: level}
	err := w.block(n)
	w.item = nil
	return err
}

func hasTerm(dl *html.Node) bool {
	for c := range dl.ChildNodes() {
		if c.DataAtom == atom.Dt || c.DataAtom == atom.Div && hasTerm(c) {
			return true
		}
	}
	return false
}
