package pptx

import "strings"

// notesMaster writes the master of notes: the slide's picture above the text.
func notesMaster() []byte {
	m := part("p:notesMaster")
	m.begin("p:cSld")
	m.WriteString(`<p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/></a:solidFill><a:effectLst/></p:bgPr></p:bg>`)
	(*writer)(nil).beginTree(m)
	m.WriteString(`<p:sp><p:nvSpPr><p:cNvPr id="2" name="Slide Image"/><p:cNvSpPr><a:spLocks noGrp="1" noRot="1" noChangeAspect="1"/></p:cNvSpPr>` +
		`<p:nvPr><p:ph type="sldImg" idx="2"/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="685800" y="1143000"/><a:ext cx="5486400" cy="3086100"/></a:xfrm>` +
		`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/><a:ln w="12700"><a:solidFill><a:prstClr val="black"/></a:solidFill></a:ln></p:spPr></p:sp>` +
		`<p:sp><p:nvSpPr><p:cNvPr id="3" name="Notes"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="body" sz="quarter" idx="1"/></p:nvPr></p:nvSpPr>` +
		`<p:spPr><a:xfrm><a:off x="685800" y="4400550"/><a:ext cx="5486400" cy="3600450"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>` +
		`<p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r><a:t>Notes</a:t></a:r></a:p></p:txBody></p:sp>`)
	m.ends(2)
	m.empty("p:clrMap", "bg1", "lt1", "tx1", "dk1", "bg2", "lt2", "tx2", "dk2", "accent1", "accent1", "accent2", "accent2",
		"accent3", "accent3", "accent4", "accent4", "accent5", "accent5", "accent6", "accent6", "hlink", "hlink",
		"folHlink", "folHlink")
	m.WriteString(`<p:notesStyle><a:lvl1pPr marL="0" algn="l"><a:defRPr sz="1200"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill>` +
		`<a:latin typeface="+mn-lt"/></a:defRPr></a:lvl1pPr></p:notesStyle>`)
	m.end()
	return m.Bytes()
}

// notes writes the notes of the n-th slide.
func (w *writer) notes(n int, text string) error {
	m := part("p:notes")
	m.begin("p:cSld")
	w.beginTree(m)
	m.WriteString(`<p:sp><p:nvSpPr><p:cNvPr id="2" name="Slide Image Placeholder 1"/><p:cNvSpPr><a:spLocks noGrp="1" noRot="1" noChangeAspect="1"/></p:cNvSpPr>` +
		`<p:nvPr><p:ph type="sldImg"/></p:nvPr></p:nvSpPr><p:spPr/></p:sp>` +
		`<p:sp><p:nvSpPr><p:cNvPr id="3" name="Notes Placeholder 2"/><p:cNvSpPr><a:spLocks noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="body" idx="1"/></p:nvPr></p:nvSpPr><p:spPr/>`)
	m.begin("p:txBody")
	m.WriteString("<a:bodyPr/><a:lstStyle/>")
	for line := range strings.SplitSeq(text, "\n") {
		m.begin("a:p")
		if line != "" {
			m.begin("a:r")
			m.empty("a:rPr", "lang", w.deck.Language)
			m.leaf("a:t", line)
			m.end()
		}
		m.end()
	}
	m.end()
	m.WriteString("</p:sp>")
	m.ends(2)
	m.WriteString(`<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>`)
	m.end()
	if err := w.put(notesPart(n), m.Bytes()); err != nil {
		return err
	}
	return w.put(relationsPart(notesPart(n)), relations([]relation{
		{id: "rId1", kind: "notesMaster", target: "/" + w.base.notes}, {id: "rId2", kind: "slide", target: "/" + slidePart(n)},
	}))
}
