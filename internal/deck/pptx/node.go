package pptx

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxNodes = 400_000 // elements of one part, which is in memory while it is read
	maxText  = 1 << 20 // bytes of one element's text
)

// node is an element of a part. Prefixes don't matter: no part has two elements of one local name that would be
// confused where they are looked for.
type node struct {
	start xml.StartElement
	kids  []*node
	text  string
}

// parse reads a part into memory. Of an mc:AlternateContent (ECMA-376 part 3, 10.2) its children are the choice's, or
// the fallback's where the choice needs what this package doesn't know, or has an object whose picture the fallback has.
func parse(ctx context.Context, pkg *ooxml.Package, part string) (*node, error) {
	root := &node{}
	err := pkg.Read(ctx, part, func(d *ooxml.Decoder) error {
		b := &builder{d: d}
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if start, ok := token.(xml.StartElement); ok {
				if err := b.element(root, start); err != nil {
					return err
				}
			}
		}
	})
	if err != nil || len(root.kids) == 0 {
		return root, err
	}
	return root.kids[0], nil
}

type builder struct {
	d     *ooxml.Decoder
	count int
}

// element adds the element whose start was the last token to its parent.
func (b *builder) element(parent *node, start xml.StartElement) error {
	if b.count++; b.count > maxNodes {
		return taskerr.Errorf(taskerr.QuotaExceeded, "a slide holds more than %d elements: it is not read", maxNodes)
	}
	if start.Name.Local == "AlternateContent" {
		return b.alternate(parent)
	}
	n := &node{start: start.Copy()}
	parent.kids = append(parent.kids, n)
	var text []byte
	err := b.d.Children(
		func(start xml.StartElement) error { return b.element(n, start) },
		func(piece []byte) error {
			if len(piece) > maxText-len(text) {
				b.d.Cut()
				piece = piece[:maxText-len(text)]
			}
			text = append(text, piece...)
			return nil
		})
	if len(n.kids) == 0 || strings.TrimSpace(string(text)) != "" {
		n.text = string(text)
	}
	return err
}

// alternate adds the children of one branch to the parent: of the first choice, unless a later branch shows more.
func (b *builder) alternate(parent *node) error {
	var taken *node
	err := b.d.Children(func(start xml.StartElement) error {
		foreign := strings.HasPrefix(attr(start, "Requires"), "cx") // charts of 2016, whose fallback is a picture
		branch := start.Name.Local == "Choice" && !foreign || start.Name.Local == "Fallback"
		if !branch || taken != nil && !opaque(taken) {
			return b.d.Skip()
		}
		n := &node{}
		err := b.d.Children(func(start xml.StartElement) error { return b.element(n, start) }, nil)
		if taken == nil || n.find("pic") != nil {
			taken = n
		}
		return err
	}, nil)
	if taken != nil {
		parent.kids = append(parent.kids, taken.kids...)
	}
	return err
}

// opaque reports whether a branch has an object that is not read, and no picture of it.
func opaque(branch *node) bool {
	if branch.find("pic") != nil {
		return false
	}
	for _, object := range []string{"oleObj", "contentPart", "model3d", "sldZm", "sectionZm", "summaryZm"} {
		if branch.find(object) != nil {
			return true
		}
	}
	return false
}

func attr(start xml.StartElement, local string) string { return ooxml.Attr(start, local) }

func (n *node) name() string {
	if n == nil {
		return ""
	}
	return n.start.Name.Local
}

// attr returns an attribute's value by its local name, or "".
func (n *node) attr(local string) string {
	if n == nil {
		return ""
	}
	return attr(n.start, local)
}

// rel returns an attribute of the namespace of relationships, or "".
func (n *node) rel(local string) string {
	if n == nil {
		return ""
	}
	return ooxml.RelationID(n.start, local)
}

// num returns an attribute as a whole number, or fallback.
func (n *node) num(local string, fallback int64) int64 {
	v, err := strconv.ParseInt(strings.TrimSpace(n.attr(local)), 10, 64)
	if err != nil || v > 1<<40 || v < -1<<40 {
		return fallback
	}
	return v
}

// on returns a boolean attribute, or fallback.
func (n *node) on(local string, fallback bool) bool { return ooxml.On(n.attr(local), fallback) }

// at returns the first descendant along a path of names, or nil.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		n = n.kid(name)
	}
	return n
}

func (n *node) kid(name string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name() == name {
			return k
		}
	}
	return nil
}

// all returns the children of a name.
func (n *node) all(name string) []*node {
	if n == nil {
		return nil
	}
	var out []*node
	for _, k := range n.kids {
		if k.name() == name {
			out = append(out, k)
		}
	}
	return out
}

// find returns the first descendant of a name at any depth, or nil.
func (n *node) find(name string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.name() == name {
			return k
		}
		if f := k.find(name); f != nil {
			return f
		}
	}
	return nil
}

// words returns the text of all descendants of a name, joined.
func (n *node) words(name string) string {
	if n == nil {
		return ""
	}
	var out strings.Builder
	var walk func(n *node)
	walk = func(n *node) {
		for _, k := range n.kids {
			if k.name() == name {
				out.WriteString(k.text)
			}
			walk(k)
		}
	}
	walk(n)
	return out.String()
}
