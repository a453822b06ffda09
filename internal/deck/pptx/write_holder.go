package pptx

import (
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// holder writes a placeholder of a layout or a master, with its styles if styled.
func (d *drawing) holder(p *deck.Placeholder, kind, index string, styled bool) {
	m := d.m
	prompt := map[deck.Role]string{deck.TitleRole: "Title", deck.SubtitleRole: "Subtitle", deck.BodyRole: "Text"}[p.Role]
	m.begin("p:sp")
	m.begin("p:nvSpPr")
	m.empty("p:cNvPr", "id", num(d.next), "name", fmt.Sprintf("Placeholder %d", d.next-1))
	d.next++
	m.begin("p:cNvSpPr")
	m.empty("a:spLocks", "noGrp", "1")
	m.end()
	m.begin("p:nvPr")
	m.empty("p:ph", "type", kind, "idx", index)
	m.ends(2)
	m.begin("p:spPr")
	if p.Box != nil {
		d.place("a:xfrm", p.Box)
		m.WriteString(`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom>`)
	}
	m.end()
	m.begin("p:txBody")
	m.begin("a:bodyPr", "anchor", anchorNames[p.Anchor])
	if p.Role == deck.BodyRole || p.Role == deck.TitleRole || p.Role == deck.SubtitleRole {
		m.empty("a:normAutofit")
	}
	m.end()
	if styled && len(p.Styles) > 0 {
		m.begin("a:lstStyle")
		d.styles(p.Styles)
		m.end()
	} else {
		m.empty("a:lstStyle")
	}
	m.begin("a:p")
	if p.Role == deck.NumberRole {
		d.run(&deck.Run{Field: "slide_number"})
	} else if prompt != "" {
		m.begin("a:r")
		m.leaf("a:t", prompt)
		m.end()
	}
	m.ends(3)
}
