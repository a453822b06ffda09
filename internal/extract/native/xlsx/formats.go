package xlsx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/numfmt"
)

const maxFormats = 65_536 // Excel allows 65,490 cell formats

// formats holds the kinds of number formats by cell format index (18.8.10).
type formats []numfmt.Kind

func (f *formats) read(d *ooxml.Decoder) error {
	own := map[int]numfmt.Kind{}
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "numFmt":
			if len(own) < maxFormats {
				own[ooxml.Int(ooxml.Attr(start, "numFmtId"), -1)] = numfmt.Parse(ooxml.Attr(start, "formatCode"))
			}
		case "dxfs", "cellStyleXfs":
			return d.Skip()
		case "cellXfs":
			return d.Children(func(start xml.StartElement) error {
				if start.Name.Local == "xf" && len(*f) < maxFormats {
					id := ooxml.Int(ooxml.Attr(start, "numFmtId"), 0)
					kind, ok := own[id]
					if !ok {
						kind = numfmt.BuiltIn(id)
					}
					*f = append(*f, kind)
				}
				return d.Skip()
			}, nil)
		}
		return nil
	})
}

// of returns the kind of a cell's format; an undefined one is General.
func (f formats) of(index string) numfmt.Kind {
	if i := ooxml.Int(index, -1); i >= 0 && i < len(f) {
		return f[i]
	}
	return numfmt.General
}
