package docx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/chart"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/diagram"
)

// graphic reads a chart or a diagram. Its blocks follow the paragraph that anchors it.
func (r *reader) graphic(p *paragraph, start xml.StartElement) error {
	id := "id"
	if start.Name.Local == "relIds" {
		id = "dm"
	}
	part := r.once(ooxml.RelationID(start, id))
	if part == "" {
		return nil
	}
	err := r.pkg.Read(r.ctx, part, func(d *ooxml.Decoder) (err error) {
		var blocks []extract.Block
		if id == "dm" {
			blocks, err = diagram.Read(d, r.out.Spend)
		} else {
			blocks, err = chart.Read(d, extract.Block{}, r.out.Spend)
		}
		if err != nil {
			return err
		}
		p.boxes = append(p.boxes, blocks...)
		return r.holdTables(blocks...)
	})
	return ooxml.Optional(err)
}

// once returns the part of a relation, or "" if there is none, or it was read before: a small file may refer to a large
// part any number of times.
func (r *reader) once(id string) string {
	part := r.relations[id].Target
	if id == "" || part == "" || r.read[part] {
		return ""
	}
	r.read[part] = true
	return part
}
