package object

import "strings"

// comments are the kinds of annotations whose text isn't drawn on the page (12.5.6).
var comments = map[Name]bool{
	"Text": true, "Highlight": true, "Underline": true, "Squiggly": true, "StrikeOut": true, "Caret": true, "Ink": true,
	"Line": true, "Square": true, "Circle": true, "Polygon": true, "PolyLine": true, "Stamp": true,
	"FileAttachment": true,
}

// tree is what is known about pages and their annotations, by the numbers of the objects.
type tree struct {
	full   bool
	root   Ref
	kids   map[Ref][]Ref
	pages  map[Ref][]any // the values of their arrays of annotations, or the reference of it
	arrays map[Ref][]any
	texts  map[Ref]Note
}

func newTree() tree {
	return tree{
		root: -1, kids: map[Ref][]Ref{}, pages: map[Ref][]any{}, arrays: map[Ref][]any{}, texts: map[Ref]Note{},
	}
}

// add keeps an object if it is about a page or a comment, and returns how much it keeps.
func (t *tree) add(number int, value any) int {
	if t.full {
		return 0
	}
	id := Ref(number)
	if list, ok := value.([]any); ok {
		t.arrays[id] = references(list)
		return len(t.arrays[id]) + 1
	}
	d, ok := value.(Dict)
	if !ok {
		return 0
	}
	switch d["Type"] {
	case Name("Catalog"):
		if root, ok := d["Pages"].(Ref); ok {
			t.root = root
		}
		return 0
	case Name("Pages"):
		list, _ := d["Kids"].([]any)
		var kids []Ref
		for _, kid := range list {
			if r, ok := kid.(Ref); ok {
				kids = append(kids, r)
			}
		}
		t.kids[id] = kids
		return len(kids) + 1
	case Name("Page"):
		switch a := d["Annots"].(type) {
		case Ref:
			t.pages[id] = []any{a}
		case []any:
			t.pages[id] = references(a)
		default:
			t.pages[id] = nil
		}
		return len(t.pages[id]) + 1
	}
	if n, ok := note(d); ok {
		t.texts[id] = n
		return 1 + len(n.Text)/100
	}
	delete(t.texts, id) // a later version without text
	return 0
}

// references keeps references, and the comments among dictionaries.
func references(list []any) []any {
	var kept []any
	for _, v := range list {
		switch v := v.(type) {
		case Ref:
			kept = append(kept, v)
		case Dict:
			if n, ok := note(v); ok {
				kept = append(kept, n)
			}
		}
	}
	return kept
}

func note(d Dict) (Note, bool) {
	kind, _ := d["Subtype"].(Name)
	contents, _ := d["Contents"].(String)
	author, _ := d["T"].(String)
	n := Note{Text: strings.TrimSpace(contents.Text()), Author: strings.TrimSpace(author.Text())}
	return n, comments[kind] && n.Text != ""
}

// notes returns the comments in the order of their pages.
func (t *tree) notes() []Note {
	var all []Note
	page := 0
	seen := map[Ref]bool{}
	var walk func(id Ref, depth int)
	walk = func(id Ref, depth int) {
		if seen[id] || depth > 50 {
			return
		}
		seen[id] = true
		annotations, ok := t.pages[id]
		if !ok {
			for _, kid := range t.kids[id] {
				walk(kid, depth+1)
			}
			return
		}
		page++
		all = t.onPage(all, page, annotations, seen)
	}
	walk(t.root, 0)
	return all
}

// onPage appends the comments of a page, except those seen: each object counts once, so that the work is bounded by
// the number of objects.
func (t *tree) onPage(all []Note, page int, annotations []any, seen map[Ref]bool) []Note {
	for _, a := range annotations {
		switch a := a.(type) {
		case Note:
			a.Page = page
			all = append(all, a)
		case Ref:
			if seen[a] {
				continue
			}
			seen[a] = true
			if n, ok := t.texts[a]; ok {
				n.Page = page
				all = append(all, n)
			} else {
				all = t.onPage(all, page, t.arrays[a], seen)
			}
		}
	}
	return all
}
