package xlsx

import (
	"encoding/xml"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml/numfmt"
)

const maxFormats = 65_536 // Excel allows 65,490 cell formats

// format is the number format of a cell.
type format struct {
	kind  numfmt.Kind
	zeros numfmt.Padding
	units numfmt.Units
}

// formats holds the number formats by cell format index (18.8.10).
type formats []format

func (f *formats) read(d *ooxml.Decoder) error {
	own := map[int]format{}
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "numFmt":
			if len(own) < maxFormats {
				code := ooxml.Attr(start, "formatCode")
				own[ooxml.Int(ooxml.Attr(start, "numFmtId"), -1)] = format{numfmt.Parse(code), numfmt.Zeros(code), numfmt.UnitsOf(code)}
			}
		case "dxfs", "cellStyleXfs":
			return d.Skip()
		case "cellXfs":
			return d.Children(func(start xml.StartElement) error {
				if start.Name.Local == "xf" && len(*f) < maxFormats {
					id := ooxml.Int(ooxml.Attr(start, "numFmtId"), 0)
					known, ok := own[id]
					if !ok {
						known.kind = numfmt.BuiltIn(id)
					}
					*f = append(*f, known)
				}
				return d.Skip()
			}, nil)
		}
		return nil
	})
}

// of returns a cell's format; an undefined one is General.
func (f formats) of(index string) format {
	if i := ooxml.Int(index, -1); i >= 0 && i < len(f) {
		return f[i]
	}
	return format{}
}

// text formats a number as stored in a cell. From start to end it has no unit.
func (f format) text(value string, epoch1904 bool) (text string, start, end int) {
	number := numfmt.Format(value, f.kind, epoch1904)
	if padded := f.zeros.Apply(number); padded != number { // a padding has the unit, too
		return padded, 0, len(padded)
	}
	return f.units.Apply(number)
}
