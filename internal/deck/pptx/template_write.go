package pptx

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// templateBase makes the parts of a template the base.
func (w *writer) templateBase() error {
	t := w.options.Template
	b := base{main: t.main, notes: t.notes, relations: t.relations, present: w.presentTemplate, write: w.templateParts}
	for _, name := range t.parts {
		if kind := t.typeOf(name); kind != "" {
			b.types = append(b.types, contentType{name, kind})
		}
	}
	if b.notes == "" {
		b.notes = "ppt/notesMasters/deckNotesMaster.xml"
		b.relations = append(b.relations, relation{id: "deckNotes", kind: "notesMaster", target: "/" + b.notes})
		b.types = append(b.types, contentType{b.notes, typeBase + "presentationml.notesMaster+xml"},
			contentType{partDeckNotesTheme, typeTheme})
	}
	for _, id := range sortedKeys(t.layouts) {
		w.layouts[id] = t.layouts[id]
	}
	w.base = b
	return nil
}

const partDeckNotesTheme = "ppt/theme/deckNotesTheme.xml"

// templateParts copies the template's parts as they are, with their relations. That of its windows is empty: it names
// slides that are left out.
func (w *writer) templateParts() error {
	t := w.options.Template
	for _, name := range t.parts {
		if name == t.view {
			if err := w.put(name, nothing("p:viewPr")); err != nil {
				return err
			}
			continue
		}
		if err := w.copyPart(name); err != nil {
			return err
		}
		if err := w.copyRelations(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if t.notes != "" {
		return nil
	}
	if err := w.put(w.base.notes, notesMaster()); err != nil {
		return err
	}
	if err := w.put(partDeckNotesTheme, w.theme()); err != nil {
		return err
	}
	return w.put(relationsPart(w.base.notes), relations([]relation{{id: "rId1", kind: "theme", target: "/" + partDeckNotesTheme}}))
}

// copyRelations copies the relations of a part. What leads to a slide of the template, as a button of a layout does, leads
// to the first one of the deck.
func (w *writer) copyRelations(part string) error {
	t := w.options.Template
	if !t.jumps[part] || len(w.deck.Slides) == 0 {
		return w.copyPart(relationsPart(part))
	}
	found, err := t.pkg.Relations(w.ctx, part)
	if err != nil {
		return err
	}
	var all []relation
	for _, id := range slices.Sorted(maps.Keys(found)) {
		r := relation{id: id, kind: found[id].URI, target: found[id].Target, external: found[id].External}
		switch {
		case found[id].Type == "slide":
			r.target = "/" + slidePart(1)
		case !r.external:
			r.target = "/" + r.target
		}
		all = append(all, r)
	}
	return w.put(relationsPart(part), relations(all))
}

func (w *writer) copyPart(name string) error {
	in, err := w.options.Template.pkg.Part(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read-only
	method := zip.Deflate
	if packed(name) {
		method = zip.Store
	}
	out, err := w.entry(name, method)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, reading{w.ctx, in}); err != nil {
		return fmt.Errorf("copy a part of the template: %w", err)
	}
	return nil
}

// presentTemplate is the template's main part with the deck's slides in place of its own. What refers to its own
// (sections, shows, macros) is left out.
func (w *writer) presentTemplate(ids []string) ([]byte, error) {
	content := w.options.Template.content
	spans, err := children(content)
	if err != nil {
		return nil, err
	}
	list := &markup{}
	if len(ids) > 0 {
		list.begin("p:sldIdLst", "xmlns:p", nsMain, "xmlns:r", nsRel)
		for i, id := range ids {
			list.empty("p:sldId", "id", num(256+i), "r:id", id)
		}
		list.end()
	}
	notes := ""
	if w.options.Template.notes == "" {
		notes = `<p:notesMasterIdLst xmlns:p="` + nsMain + `" xmlns:r="` + nsRel + `"><p:notesMasterId r:id="deckNotes"/></p:notesMasterIdLst>`
	}
	var out bytes.Buffer
	at := 0
	placed, placedNotes := false, false
	for _, s := range spans {
		out.Write(content[at:s.start])
		at = s.start
		if s.name != "sldMasterIdLst" && !placedNotes {
			out.WriteString(notes)
			placedNotes = true
		}
		switch s.name {
		case "sldIdLst", "custShowLst", "extLst", "handoutMasterIdLst", "custDataLst", "smartTags":
			at = s.end
		}
		if (s.name == "sldIdLst" || s.name == "sldSz" || s.name == "notesSz") && !placed {
			out.Write(list.Bytes())
			placed = true
		}
	}
	out.Write(content[at:])
	return out.Bytes(), nil
}

// childSpan is where a child of the root is.
type childSpan struct {
	name       string
	start, end int
}

// children finds the children of the root.
func children(content []byte) ([]childSpan, error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	var out []childSpan
	depth := 0
	for {
		before := int(d.InputOffset())
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, taskerr.Errorf(taskerr.ValidationError, "the template's main part is damaged: save it again and upload it")
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth == 2 {
				out = append(out, childSpan{name: t.Name.Local, start: before})
			}
		case xml.EndElement:
			if depth == 2 {
				out[len(out)-1].end = int(d.InputOffset())
			}
			depth--
		}
	}
}
