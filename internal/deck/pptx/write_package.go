package pptx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// The content types of parts.
const (
	typeBase  = "application/vnd.openxmlformats-officedocument."
	typeMain  = typeBase + "presentationml.presentation.main+xml"
	typeSlide = typeBase + "presentationml.slide+xml"
	typeNotes = typeBase + "presentationml.notesSlide+xml"
	typeChart = typeBase + "drawingml.chart+xml"
	typeTheme = typeBase + "theme+xml"
	typeSheet = typeBase + "spreadsheetml.sheet"
	typeRels  = "application/vnd.openxmlformats-package.relationships+xml"
)

// relation is an entry of a part's relations.
type relation struct {
	id, kind, target string // kind: the last segment of its URI
	external         bool
}

// relations writes the relations of a part.
func relations(all []relation) []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("Relationships", "xmlns", nsPackage)
	for _, r := range all {
		mode := ""
		if r.external {
			mode = "External"
		}
		kind := r.kind
		if !strings.Contains(kind, "/") {
			kind = relBase + kind
		}
		m.empty("Relationship", "Id", r.id, "Type", kind, "Target", r.target, "TargetMode", mode)
	}
	m.end()
	return m.Bytes()
}

// relationsPart is the name of the part with another part's relations.
func relationsPart(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:i+1] + "_rels/" + name[i+1:] + ".rels"
}

// contentTypes writes the types of all parts.
func (w *writer) contentTypes() []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("Types", "xmlns", nsTypes)
	defaults := map[string]string{
		"xml": "application/xml", "rels": typeRels, "xlsx": typeSheet,
	}
	for kind, extension := range extensions {
		defaults[extension] = kind
	}
	if t := w.options.Template; t != nil {
		for extension, kind := range t.defaults {
			if defaults[extension] == "" {
				defaults[extension] = kind
			}
		}
	}
	names := make([]string, 0, len(defaults))
	for extension := range defaults {
		names = append(names, extension)
	}
	slices.Sort(names)
	for _, extension := range names {
		m.empty("Default", "Extension", extension, "ContentType", defaults[extension])
	}
	all := append([]contentType{
		{w.base.main, typeMain},
		{"docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"},
		{"docProps/app.xml", typeBase + "extended-properties+xml"},
	}, w.base.types...)
	for i, s := range w.deck.Slides {
		all = append(all, contentType{slidePart(i + 1), typeSlide})
		if s.Notes != "" {
			all = append(all, contentType{notesPart(i + 1), typeNotes})
		}
	}
	for _, n := range w.charts {
		all = append(all, contentType{chartPart(n), typeChart})
	}
	for _, t := range all {
		m.empty("Override", "PartName", "/"+t.part, "ContentType", t.kind)
	}
	m.end()
	return m.Bytes()
}

// packageParts writes the package's relations and properties, and the presentation's part with its relations.
func (w *writer) packageParts() error {
	if err := w.put("_rels/.rels", relations([]relation{
		{id: "rId1", kind: "officeDocument", target: w.base.main},
		{id: "rId2", kind: strings.Replace(nsPackage, "relationships", "relationships/metadata/core-properties", 1), target: "docProps/core.xml"},
		{id: "rId3", kind: "extended-properties", target: "docProps/app.xml"},
	})); err != nil {
		return err
	}
	if err := w.put("docProps/core.xml", w.core()); err != nil {
		return err
	}
	if err := w.put("docProps/app.xml", w.app()); err != nil {
		return err
	}
	all := slices.Clone(w.base.relations)
	ids := make([]string, len(w.deck.Slides))
	for i := range w.deck.Slides {
		ids[i] = fmt.Sprintf("deckSlide%d", i+1)
		all = append(all, relation{id: ids[i], kind: "slide", target: "/" + slidePart(i+1)})
	}
	main, err := w.base.present(ids)
	if err != nil {
		return err
	}
	if err := w.put(w.base.main, main); err != nil {
		return err
	}
	return w.put(relationsPart(w.base.main), relations(all))
}

// core are the properties of the document. There is no time among them: the same deck yields the same bytes.
func (w *writer) core() []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("cp:coreProperties", "xmlns:cp", "http://schemas.openxmlformats.org/package/2006/metadata/core-properties",
		"xmlns:dc", "http://purl.org/dc/elements/1.1/")
	m.leaf("dc:title", w.deck.Title)
	m.leaf("dc:creator", w.deck.Author)
	if w.deck.Language != "" {
		m.leaf("dc:language", w.deck.Language)
	}
	m.end()
	return m.Bytes()
}

func (w *writer) app() []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.begin("Properties", "xmlns", "http://schemas.openxmlformats.org/officeDocument/2006/extended-properties")
	m.leaf("Application", "async-worker")
	notes, hidden := 0, 0
	for _, s := range w.deck.Slides {
		if s.Notes != "" {
			notes++
		}
		if s.Hidden {
			hidden++
		}
	}
	m.leaf("Slides", num(len(w.deck.Slides)))
	m.leaf("Notes", num(notes))
	m.leaf("HiddenSlides", num(hidden))
	m.end()
	return m.Bytes()
}

// slideIDs writes the list of slides. Ids begin at 256 (19.7.13).
func slideIDs(m *markup, ids []string) {
	if len(ids) == 0 {
		return
	}
	m.begin("p:sldIdLst")
	for i, id := range ids {
		m.empty("p:sldId", "id", num(256+i), "r:id", id)
	}
	m.end()
}

// notesSize is the size of a page of notes: A4 and letter both hold it.
var notesSize = deck.Size{Width: 6858000, Height: 9144000}
