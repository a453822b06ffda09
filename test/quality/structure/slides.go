package structure

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

const (
	slideNS = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
		`xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`
	emu = 914_400 // of an inch
)

// Slides returns a document as a presentation has it: each heading is the title of a slide.
func Slides(d *Document) *Document {
	made := &Document{Kind: d.Kind, Language: d.Language}
	for _, p := range d.Parts {
		if p.Kind == extract.Heading {
			p.Level = 1
		}
		p.Lead = ""
		made.Parts = append(made.Parts, p)
	}
	return made
}

// PPTX writes the slides of a document for PowerPoint.
func PPTX(w io.Writer, d *Document) error {
	z := zip.NewWriter(w)
	var slides [][]Part
	for _, p := range d.Parts {
		if p.Kind == extract.Heading || len(slides) == 0 {
			slides = append(slides, nil)
		}
		slides[len(slides)-1] = append(slides[len(slides)-1], p)
	}
	parts := map[string]string{}
	types, ids, relations := "", "", ""
	for i, s := range slides {
		name := fmt.Sprintf("slides/slide%d.xml", i+1)
		e := &slide{rtl: d.RightToLeft()}
		parts["ppt/"+name] = declared + e.write(s)
		parts[fmt.Sprintf("ppt/slides/_rels/slide%d.xml.rels", i+1)] = declared + relationships(
			relation(0, "slideLayout", "../slideLayouts/slideLayout1.xml")+e.relations)
		types += override("/ppt/"+name, "presentationml.slide+xml")
		ids += fmt.Sprintf(`<p:sldId id="%d" r:id="rId%d"/>`, 256+i, i+10)
		relations += relation(i+10, "slide", name)
	}
	parts["ppt/presentation.xml"] = declared + `<p:presentation ` + slideNS + `><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/>` +
		`</p:sldMasterIdLst><p:sldIdLst>` + ids + `</p:sldIdLst><p:sldSz cx="12192000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`
	parts["ppt/_rels/presentation.xml.rels"] = declared + relationships(
		relation(1, "slideMaster", "slideMasters/slideMaster1.xml")+relation(2, "theme", "theme/theme1.xml")+relations)
	parts["ppt/slideMasters/slideMaster1.xml"] = declared + `<p:sldMaster ` + slideNS + `><p:cSld>` + tree("") +
		`</p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>` +
		`<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`
	parts["ppt/slideMasters/_rels/slideMaster1.xml.rels"] = declared + relationships(
		relation(1, "slideLayout", "../slideLayouts/slideLayout1.xml")+relation(2, "theme", "../theme/theme1.xml"))
	parts["ppt/slideLayouts/slideLayout1.xml"] = declared + `<p:sldLayout ` + slideNS + ` type="titleOnly"><p:cSld name="Title Only">` + tree(
		`<p:sp><p:nvSpPr><p:cNvPr id="2" name="Title"/><p:cNvSpPr/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr/>`+
			`<p:txBody><a:bodyPr/><a:p/></p:txBody></p:sp>`) + `</p:cSld></p:sldLayout>`
	parts["ppt/slideLayouts/_rels/slideLayout1.xml.rels"] = declared + relationships(
		relation(1, "slideMaster", "../slideMasters/slideMaster1.xml"))
	parts["ppt/theme/theme1.xml"] = declared + theme
	parts["_rels/.rels"] = declared + relationships(relation(1, "officeDocument", "ppt/presentation.xml"))
	parts["[Content_Types].xml"] = declared + contentTypesOf(types+
		override("/ppt/presentation.xml", "presentationml.presentation.main+xml")+
		override("/ppt/slideMasters/slideMaster1.xml", "presentationml.slideMaster+xml")+
		override("/ppt/slideLayouts/slideLayout1.xml", "presentationml.slideLayout+xml")+override("/ppt/theme/theme1.xml", "theme+xml"))
	return zipped(z, parts)
}

// tree is the shapes of a slide, a layout or a master.
func tree(shapes string) string {
	return `<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>` + shapes + `</p:spTree>`
}

// slide writes one slide.
type slide struct {
	strings.Builder
	relations string
	rtl       bool
	shapes    int
	top       int // of the next shape, in EMU
}

func (s *slide) write(parts []Part) string {
	s.top = 3 * emu / 2
	for i := 0; i < len(parts); i++ {
		p := parts[i]
		switch p.Kind {
		case extract.Heading:
			s.shape(`<p:ph type="title"/>`, s.paragraph(p.Block, ""))
		case extract.ListItem:
			var items strings.Builder
			for ; i < len(parts) && parts[i].Kind == extract.ListItem; i++ {
				items.WriteString(s.paragraph(parts[i].Block, marker(parts[i])))
			}
			i--
			s.shape("", items.String())
		case extract.TableKind:
			s.table(p.Table, emu/2)
			if p.Beside != nil {
				s.top -= emu
				s.table(p.Beside.Table, 6*emu)
			}
		default:
			s.shape("", s.paragraph(p.Block, ""))
		}
	}
	return `<p:sld ` + slideNS + `><p:cSld>` + tree(s.String()) + `</p:cSld></p:sld>`
}

// marker returns the properties of a list item.
func marker(p Part) string {
	kind := `<a:buChar char="•"/>`
	if p.Marker != "-" {
		scheme := "arabicPeriod"
		if strings.HasPrefix(p.Marker, "(") {
			scheme = "alphaLcParenBoth"
		}
		kind = `<a:buAutoNum type="` + scheme + `"/>`
	}
	return fmt.Sprintf(`<a:pPr lvl="%d" marL="%d" indent="-228600">%s</a:pPr>`, p.Level, 342_900*(p.Level+1), kind)
}

func (s *slide) place(left, height int) string {
	top := s.top
	s.top += height
	return fmt.Sprintf(`<a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/>`, left, top, 5*emu, height-emu/10)
}

func (s *slide) shape(holder, paragraphs string) {
	s.shapes++
	where := ""
	if holder == "" {
		where = `<a:xfrm>` + s.place(emu/2, emu) + `</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>`
	}
	fmt.Fprintf(s, `<p:sp><p:nvSpPr><p:cNvPr id="%d" name="s%d"/><p:cNvSpPr/><p:nvPr>%s</p:nvPr></p:nvSpPr><p:spPr>%s</p:spPr>`+
		`<p:txBody><a:bodyPr/>%s</p:txBody></p:sp>`, s.shapes+1, s.shapes, holder, where, paragraphs)
}

func (s *slide) paragraph(b extract.Block, properties string) string {
	if properties == "" && s.rtl {
		properties = `<a:pPr rtl="1"/>`
	}
	runs, at := "", 0
	for _, l := range b.Links {
		runs += slideRun(b.Text[at:l.Start], "") + slideRun(b.Text[l.Start:l.End], s.link(l.Target))
		at = l.End
	}
	return `<a:p>` + properties + runs + slideRun(b.Text[at:], "") + `</a:p>`
}

func slideRun(text, properties string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = `<a:r><a:rPr lang="en-US">` + properties + `</a:rPr><a:t>` + escape(line) + `</a:t></a:r>`
	}
	return strings.Join(lines, `<a:br/>`)
}

func (s *slide) link(target string) string {
	id := strings.Count(s.relations, "<Relationship ") + 1
	s.relations += fmt.Sprintf(`<Relationship Id="rId%d" Type="%s/hyperlink" Target="%s" TargetMode="External"/>`, id, officeRels,
		escape(target))
	return fmt.Sprintf(`<a:hlinkClick r:id="rId%d"/>`, id)
}

func (s *slide) table(t *extract.Table, left int) {
	s.shapes++
	columns := width(t)
	fmt.Fprintf(s, `<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="%d" name="t%d"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>`+
		`<p:xfrm>%s</p:xfrm><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl>`+
		`<a:tblPr firstRow="1"/><a:tblGrid>%s</a:tblGrid>`, s.shapes+1, s.shapes, s.place(left, emu),
		strings.Repeat(fmt.Sprintf(`<a:gridCol w="%d"/>`, 5*emu/columns), columns))
	for _, row := range filled(t) {
		s.WriteString(`<a:tr h="370840">`)
		for _, c := range row {
			fmt.Fprintf(s, `<a:tc%s><a:txBody><a:bodyPr/>%s</a:txBody><a:tcPr/></a:tc>`, c.attributes(),
				s.paragraph(extract.Block{Text: c.Text, Links: c.Links}, ""))
		}
		s.WriteString(`</a:tr>`)
	}
	s.WriteString(`</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`)
}
