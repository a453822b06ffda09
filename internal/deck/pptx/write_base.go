package pptx

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// The parts of a presentation of the deck's own layouts.
const (
	partMain       = "ppt/presentation.xml"
	partMaster     = "ppt/slideMasters/slideMaster1.xml"
	partTheme      = "ppt/theme/theme1.xml"
	partNotes      = "ppt/notesMasters/notesMaster1.xml"
	partNotesTheme = "ppt/theme/theme2.xml"
	partTables     = "ppt/tableStyles.xml"
	partProperties = "ppt/presProps.xml"
	partView       = "ppt/viewProps.xml"
)

func layoutPart(n int) string { return fmt.Sprintf("ppt/slideLayouts/slideLayout%d.xml", n) }

// ownBase makes the parts of the deck's own layouts.
func (w *writer) ownBase() {
	w.ensureLayouts()
	b := base{
		main: partMain, notes: partNotes, present: w.present,
		types: []contentType{
			{partMaster, typeBase + "presentationml.slideMaster+xml"},
			{partTheme, typeTheme},
			{partNotesTheme, typeTheme},
			{partNotes, typeBase + "presentationml.notesMaster+xml"},
			{partTables, typeBase + "presentationml.tableStyles+xml"},
			{partProperties, typeBase + "presentationml.presProps+xml"},
			{partView, typeBase + "presentationml.viewProps+xml"},
		},
		relations: []relation{
			{id: "rId1", kind: "slideMaster", target: "/" + partMaster},
			{id: "rId2", kind: "notesMaster", target: "/" + partNotes},
			{id: "rId3", kind: "theme", target: "/" + partTheme},
			{id: "rId4", kind: "tableStyles", target: "/" + partTables},
			{id: "rId5", kind: "presProps", target: "/" + partProperties},
			{id: "rId6", kind: "viewProps", target: "/" + partView},
		},
	}
	for i, l := range w.deck.Layouts {
		w.layouts[l.ID] = layoutPart(i + 1)
		b.types = append(b.types, contentType{layoutPart(i + 1), typeBase + "presentationml.slideLayout+xml"})
	}
	b.write = w.ownParts
	w.base = b
}

// ensureLayouts gives a deck without layouts those of the house: a presentation has at least one.
func (w *writer) ensureLayouts() {
	if len(w.deck.Layouts) == 0 {
		copied := *w.deck
		copied.Layouts = deck.HouseLayouts()
		w.deck = &copied
	}
}

func (w *writer) present(ids []string) ([]byte, error) {
	m := part("p:presentation", "saveSubsetFonts", "1")
	m.begin("p:sldMasterIdLst")
	m.empty("p:sldMasterId", "id", "2147483648", "r:id", "rId1")
	m.end()
	m.begin("p:notesMasterIdLst")
	m.empty("p:notesMasterId", "r:id", "rId2")
	m.end()
	slideIDs(m, ids)
	m.empty("p:sldSz", "cx", num(w.deck.Size.Width), "cy", num(w.deck.Size.Height))
	m.empty("p:notesSz", "cx", num(notesSize.Width), "cy", num(notesSize.Height))
	m.end()
	return m.Bytes(), nil
}

func (w *writer) ownParts() error {
	theme := w.theme()
	for _, p := range []struct {
		name    string
		content []byte
	}{
		{partTheme, theme},
		{partNotesTheme, theme},
		{partTables, tableStyles()},
		{partProperties, nothing("p:presentationPr")},
		{partView, nothing("p:viewPr")},
		{partMaster, w.master()},
		{relationsPart(partMaster), w.masterRelations()},
		{partNotes, notesMaster()},
		{relationsPart(partNotes), relations([]relation{{id: "rId1", kind: "theme", target: "/" + partNotesTheme}})},
	} {
		if err := w.put(p.name, p.content); err != nil {
			return err
		}
	}
	for i := range w.deck.Layouts {
		if err := w.layout(i); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) masterRelations() []byte {
	var all []relation
	for i := range w.deck.Layouts {
		all = append(all, relation{id: fmt.Sprintf("rId%d", i+1), kind: "slideLayout", target: "/" + layoutPart(i+1)})
	}
	return relations(append(all, relation{id: fmt.Sprintf("rId%d", len(all)+1), kind: "theme", target: "/" + partTheme}))
}

// theme writes the deck's theme. Lines and effects are plain.
func (w *writer) theme() []byte {
	t := w.deck.Theme
	m := &markup{}
	m.WriteString(xmlHead)
	name := t.Name
	if name == "" {
		name = "Deck"
	}
	m.begin("a:theme", "xmlns:a", nsDrawing, "name", name)
	m.begin("a:themeElements")
	m.begin("a:clrScheme", "name", name)
	byName := map[string]string{}
	for element, color := range themeNames {
		byName[color] = element
	}
	for _, color := range deck.ColorNames {
		m.begin("a:" + byName[color])
		m.empty("a:srgbClr", "val", t.Color(color, color)[1:])
		m.end()
	}
	m.end()
	m.begin("a:fontScheme", "name", name)
	for _, f := range [][2]string{{"a:majorFont", t.Family("major")}, {"a:minorFont", t.Family("minor")}} {
		m.begin(f[0])
		m.empty("a:latin", "typeface", f[1])
		m.WriteString(`<a:ea typeface=""/><a:cs typeface=""/>`)
		m.end()
	}
	m.end()
	m.WriteString(formatScheme)
	m.ends(2)
	return m.Bytes()
}

// formatScheme has the three of each kind that the standard asks for (20.1.4.1.14).
const formatScheme = `<a:fmtScheme name="Plain"><a:fillStyleLst>` + plainFill + plainFill + plainFill + `</a:fillStyleLst>` +
	`<a:lnStyleLst>` + plainLine + plainLine + plainLine + `</a:lnStyleLst><a:effectStyleLst>` + noEffect + noEffect + noEffect +
	`</a:effectStyleLst><a:bgFillStyleLst>` + plainFill + plainFill + plainFill + `</a:bgFillStyleLst></a:fmtScheme>`

const (
	plainFill = `<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>`
	plainLine = `<a:ln w="9525" cap="flat" cmpd="sng" algn="ctr">` + plainFill + `<a:prstDash val="solid"/></a:ln>`
	noEffect  = `<a:effectStyle><a:effectLst/></a:effectStyle>`
)

// master writes the slide master: the text styles of the layouts, and a place for title and body.
func (w *writer) master() []byte {
	m := part("p:sldMaster")
	m.begin("p:cSld")
	m.WriteString(`<p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill><a:effectLst/></p:bgPr></p:bg>`)
	w.beginTree(m)
	size := w.deck.Size
	body := deck.Placeholder{Role: deck.BodyRole, Index: 1, Box: &deck.Box{
		X: size.Width / 20, Y: size.Height / 4, W: size.Width * 9 / 10, H: size.Height * 13 / 20,
	}}
	title := deck.Placeholder{Role: deck.TitleRole, Box: &deck.Box{
		X: size.Width / 20, Y: size.Height / 20, W: size.Width * 9 / 10, H: size.Height * 3 / 20,
	}}
	if l := w.content(); l != nil {
		if p := l.Placeholder(deck.TitleRole, 0); p != nil && p.Box != nil {
			title = *p
		}
		if p := l.Placeholder(deck.BodyRole, 1); p != nil && p.Box != nil {
			body = *p
		}
	}
	s := &drawing{writer: w, m: m, next: 2}
	s.holder(&title, "title", "", false)
	s.holder(&body, "body", "1", false)
	m.ends(2)
	m.empty("p:clrMap", "bg1", "lt1", "tx1", "dk1", "bg2", "lt2", "tx2", "dk2", "accent1", "accent1", "accent2", "accent2",
		"accent3", "accent3", "accent4", "accent4", "accent5", "accent5", "accent6", "accent6", "hlink", "hlink",
		"folHlink", "folHlink")
	m.begin("p:sldLayoutIdLst")
	for i := range w.deck.Layouts {
		m.empty("p:sldLayoutId", "id", fmt.Sprint(2147483649+i), "r:id", fmt.Sprintf("rId%d", i+1))
	}
	m.end()
	m.begin("p:txStyles")
	m.begin("p:titleStyle")
	s.styles(title.Styles)
	m.end()
	m.begin("p:bodyStyle")
	s.styles(body.Styles)
	m.end()
	m.begin("p:otherStyle")
	s.styles([]deck.Style{{}})
	m.ends(3)
	return m.Bytes()
}

// content returns the layout with a title and a body, or nil.
func (w *writer) content() *deck.Layout {
	for i := range w.deck.Layouts {
		if w.deck.Layouts[i].Kind == deck.ContentLayout {
			return &w.deck.Layouts[i]
		}
	}
	return nil
}

// layoutTypes are ST_SlideLayoutType by kind.
var layoutTypes = map[deck.LayoutKind]string{
	deck.TitleLayout: "title", deck.SectionLayout: "secHead", deck.ContentLayout: "obj", deck.TwoLayout: "twoObj",
	deck.TitleOnlyLayout: "titleOnly", deck.BlankLayout: "blank",
}

// layout writes a layout with its decoration and its placeholders.
func (w *writer) layout(i int) error {
	l := &w.deck.Layouts[i]
	m := part("p:sldLayout", "type", layoutTypes[l.Kind], "preserve", "1")
	name := l.Name
	if name == "" {
		name = l.ID
	}
	m.begin("p:cSld", "name", name)
	w.background(m, l.Background)
	w.beginTree(m)
	s := &drawing{writer: w, m: m, next: 2, layout: l, relations: []relation{{id: "rId1", kind: "slideMaster", target: "/" + partMaster}}}
	for _, e := range inZ(l.Elements) {
		if err := s.element(e); err != nil {
			return err
		}
	}
	for k := range l.Placeholders {
		p := &l.Placeholders[k]
		kind, index := holderType(l, p)
		s.holder(p, kind, index, true)
	}
	m.ends(2)
	m.WriteString(`<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>`)
	m.end()
	if err := w.put(layoutPart(i+1), m.Bytes()); err != nil {
		return err
	}
	return w.put(relationsPart(layoutPart(i+1)), relations(s.relations))
}

// holderType is the type and the index of a placeholder of the deck's own layouts.
func holderType(l *deck.Layout, p *deck.Placeholder) (kind, index string) {
	number := p.Index
	switch p.Role {
	case deck.TitleRole:
		if l.Kind == deck.TitleLayout {
			return "ctrTitle", ""
		}
		return "title", ""
	case deck.SubtitleRole:
		kind = "subTitle"
	case deck.FooterRole:
		kind = "ftr"
	case deck.DateRole:
		kind = "dt"
	case deck.NumberRole:
		kind = "sldNum"
	default:
		if l.Kind != deck.ContentLayout && l.Kind != deck.TwoLayout {
			kind = "body"
		}
	}
	if number == 0 { // the title's
		number = 100 + slices.Index(slices.Sorted(maps.Keys(roleNumbers)), p.Role)
	}
	return kind, num(number)
}

var roleNumbers = map[deck.Role]bool{
	deck.SubtitleRole: true, deck.FooterRole: true, deck.DateRole: true, deck.NumberRole: true, deck.BodyRole: true,
}

// nothing is a part that says nothing. All programs write it, and some take a file without it for damaged.
func nothing(name string) []byte {
	m := &markup{}
	m.WriteString(xmlHead)
	m.empty(name, "xmlns:a", nsDrawing, "xmlns:r", nsRel, "xmlns:p", nsMain)
	return m.Bytes()
}
