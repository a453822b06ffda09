package pptx

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Template is a presentation whose masters and layouts other slides are put into. Close it at the end.
type Template struct {
	pkg        *ooxml.Package
	look       *deck.Deck
	main       string
	content    []byte // of the main part
	parts      []string
	kinds      map[string]string // content types by part
	defaults   map[string]string // content types by extension
	relations  []relation        // of the main part, without slides
	notes      string            // the master of notes; "": there is none
	view       string            // how its windows were, which names its slides; "": it does not say
	jumps      map[string]bool   // the parts that refer to its slides, other than the main one
	layouts    map[string]string // parts by the ids of the look's layouts
	holders    map[string][]holder
	tableStyle string
}

// Limits of a template: more is not one.
const (
	maxTemplateLayouts = 200
	maxTemplateParts   = 2000
)

// OpenTemplate reads a template. Its slides are not part of it, nor are macros. Pictures of its layouts are saved in
// the folder; "": they are not. Errors are those of Read, and validation_error for what can't be a template.
func OpenTemplate(ctx context.Context, file string, limits extract.Limits, folder string) (t *Template, err error) {
	pkg, err := ooxml.Open(file, limits)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = pkg.Close() // read-only
		}
	}()
	t = &Template{
		pkg: pkg, layouts: map[string]string{}, holders: map[string][]holder{}, jumps: map[string]bool{}, tableStyle: mediumStyle,
	}
	if t.main, err = pkg.Main(ctx, partMain); err != nil {
		return nil, err
	}
	if t.content, err = t.read(t.main); errors.Is(err, fs.ErrNotExist) {
		return nil, taskerr.Errorf(taskerr.ValidationError, "the template is not a presentation (PPTX or POTX)")
	} else if err != nil {
		return nil, err
	}
	if !bytes.Contains(t.content, []byte(nsMain)) {
		return nil, taskerr.Errorf(taskerr.ValidationError,
			"the template is a Strict Open XML presentation, or none: save it as PowerPoint Presentation (.pptx)")
	}
	if err := t.reach(ctx); err != nil {
		return nil, err
	}
	if err := t.types(ctx); err != nil {
		return nil, err
	}
	return t, t.looks(ctx, limits, folder)
}

// Close closes the template's file.
func (t *Template) Close() error { return t.pkg.Close() }

// Look is a deck without slides that has the template's size, theme and layouts: see deck.Restyle.
func (t *Template) Look() *deck.Deck { return t.look }

func (t *Template) read(name string) ([]byte, error) {
	rc, err := t.pkg.Part(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rc.Close() }() // read-only
	const most = 64 << 20
	return io.ReadAll(io.LimitReader(rc, most))
}

// left are the types of relations of the presentation whose targets are not taken over.
var left = map[string]bool{
	"slide": true, "vbaProject": true, "commentAuthors": true, "authors": true, "customXml": true, "tags": true,
	"handoutMaster": true,
}

// reach finds the parts that the presentation needs without its slides.
func (t *Template) reach(ctx context.Context) error {
	relations, err := t.pkg.Relations(ctx, t.main)
	if err != nil {
		return err
	}
	var queue []string
	for id, r := range relations {
		if left[r.Type] || r.Target == "" {
			continue
		}
		if r.External {
			return outside(r.Type)
		}
		t.relations = append(t.relations, relation{id: id, kind: r.URI, target: "/" + r.Target})
		queue = append(queue, r.Target)
		switch r.Type {
		case "notesMaster":
			t.notes = r.Target
		case "viewProps":
			t.view = r.Target
		}
	}
	slices.SortFunc(t.relations, func(a, b relation) int { return cmp.Compare(a.id, b.id) })
	seen := map[string]bool{t.main: true}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if len(seen) > maxTemplateParts {
			return taskerr.Errorf(taskerr.QuotaExceeded, "the template has more than %d parts", maxTemplateParts)
		}
		next, err := t.pkg.Relations(ctx, name)
		if err != nil {
			return err
		}
		for _, r := range next {
			if r.External && (r.Type != "hyperlink" || extract.Target(r.Target) == "") {
				return outside(r.Type)
			}
			switch {
			case r.Type == "slide":
				t.jumps[name] = true
			case t.has(r.Target):
				queue = append(queue, r.Target)
			}
		}
		t.parts = append(t.parts, name)
	}
	slices.Sort(t.parts)
	return nil
}

// outside is the error of a template that refers to what is not in its file. Programs that show its slides would fetch
// that: pictures and objects from addresses that an attacker chose, or files of the machine.
func outside(kind string) error {
	return taskerr.Errorf(taskerr.ValidationError,
		"the template refers to a file or an address outside of it (%s): embed linked pictures and objects, remove links to files, and save it again",
		clip(kind, 40))
}

func (t *Template) has(name string) bool {
	rc, err := t.pkg.Part(name)
	if err != nil {
		return false
	}
	_ = rc.Close() // nothing was read
	return true
}

// types reads the content types of the parts.
func (t *Template) types(ctx context.Context) error {
	t.kinds, t.defaults = map[string]string{}, map[string]string{}
	return t.pkg.Read(ctx, "[Content_Types].xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "Default":
				t.defaults[strings.ToLower(attr(start, "Extension"))] = attr(start, "ContentType")
			case "Override":
				t.kinds[strings.ToLower(strings.TrimPrefix(attr(start, "PartName"), "/"))] = attr(start, "ContentType")
			}
			return nil
		})
	})
}

// looks reads the size, the theme and the layouts.
func (t *Template) looks(ctx context.Context, limits extract.Limits, folder string) error {
	r := newReader(ctx, t.pkg, ReadOptions{Limits: limits, Folder: folder})
	root, err := parse(ctx, t.pkg, t.main)
	if err != nil {
		return err
	}
	size := root.kid("sldSz")
	r.deck.Size = deck.Size{Width: size.num("cx", 9144000), Height: size.num("cy", 6858000)}
	r.defaults = root.kid("defaultTextStyle")
	relations, err := t.pkg.Relations(ctx, t.main)
	if err != nil {
		return err
	}
	if err := r.firstTheme(root, relations); err != nil {
		return err
	}
	for _, id := range root.kid("sldMasterIdLst").all("sldMasterId") {
		if err := t.layoutsOf(ctx, r, relations[id.rel("id")].Target); err != nil {
			return err
		}
	}
	if len(r.deck.Layouts) == 0 {
		return taskerr.Errorf(taskerr.ValidationError, "the template has no layouts for slides")
	}
	if part := ooxml.OfType(relations, "tableStyles"); part != "" {
		if styles, err := parse(ctx, t.pkg, part); err == nil && styles.attr("def") != "" { // else PowerPoint's
			t.tableStyle = styles.attr("def")
		}
	}
	t.look = r.deck
	if err := t.look.Check(); err != nil {
		return taskerr.Errorf(taskerr.ValidationError, "the template has values out of range: %w", err)
	}
	return nil
}

func (t *Template) layoutsOf(ctx context.Context, r *reader, master string) error {
	root, err := parse(ctx, t.pkg, master)
	if err != nil {
		return ooxml.Optional(err)
	}
	relations, err := t.pkg.Relations(ctx, master)
	if err != nil {
		return err
	}
	for _, id := range root.kid("sldLayoutIdLst").all("sldLayoutId") {
		part := relations[id.rel("id")].Target
		if !t.has(part) {
			continue
		}
		if len(t.layouts) >= maxTemplateLayouts {
			return nil
		}
		l, err := r.layout(part)
		if err != nil {
			return err
		}
		t.layouts[l.id], t.holders[l.id] = part, l.holders
	}
	return nil
}

// holder is the type and the index of a layout's placeholder in the template.
func (t *Template) holder(layout string, p *deck.Placeholder) (kind, index string) {
	for _, h := range t.holders[layout] {
		if roleOf(h.kind) == p.Role && h.index == p.Index {
			if h.index > 0 {
				index = num(h.index)
			}
			return h.kind, index
		}
	}
	return "body", num(p.Index)
}

// typeOf is the content type of a part.
func (t *Template) typeOf(name string) string {
	if kind := t.kinds[strings.ToLower(name)]; kind != "" {
		return kind
	}
	return ""
}

// mediaParts are the parts of a template that are stored as they are.
func packed(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".fntdata":
		return true
	}
	return false
}

// sortedKeys are the keys of a map in their order.
func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
