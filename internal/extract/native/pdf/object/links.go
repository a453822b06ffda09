package object

// Link is an annotation that leads to an address.
type Link struct {
	Address string
	Areas   [][4]float64 // left, bottom, right, top: one of each line of its text
}

// The bounds of a page.
const (
	maxAnnotations = 20_000 // that are looked at
	maxLinkAreas   = 2_000
)

// Links returns the links of a page to addresses.
func (f *File) Links(p *Page) []Link {
	var out []Link
	all, areas := f.Array(p.Dict["Annots"]), 0
	from := within(p.Dict["Annots"], p.ref)
	for _, o := range all[:min(len(all), maxAnnotations)] {
		d := f.Dict(o)
		if f.Name(d["Subtype"]) != "Link" {
			continue
		}
		action := f.Dict(d["A"])
		address := f.String(action["URI"], within(d["A"], within(o, from)))
		if f.Name(action["S"]) != "URI" || len(address) == 0 {
			continue
		}
		l := Link{string(address), f.areas(d)}
		if areas += len(l.Areas); areas > maxLinkAreas {
			break
		}
		out = append(out, l)
	}
	return out
}

// within returns the object that holds what o is or refers to: another one, or that which holds o.
func within(o Object, holder Ref) Ref {
	if ref, ok := o.(Ref); ok {
		return ref
	}
	return holder
}

// areas returns where a link is: the boxes around its quadrilaterals, which are one for each line of text, or its
// rectangle.
func (f *File) areas(d Dict) (out [][4]float64) {
	const corners = 8 // coordinates of a quadrilateral
	quads := f.Array(d["QuadPoints"])
	if len(quads) > corners*maxLinkAreas {
		quads = nil
	}
	for ; len(quads) >= corners; quads = quads[corners:] {
		var v [corners]float64
		for i := range v {
			v[i], _ = f.Number(quads[i])
		}
		out = append(out, [4]float64{
			min(v[0], v[2], v[4], v[6]), min(v[1], v[3], v[5], v[7]), max(v[0], v[2], v[4], v[6]), max(v[1], v[3], v[5], v[7]),
		})
	}
	if out == nil {
		if r, ok := f.Rectangle(d["Rect"]); ok {
			out = append(out, r)
		}
	}
	return out
}
