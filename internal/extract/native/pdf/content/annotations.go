package content

import "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"

// maxAnnotations limits those of a page.
const maxAnnotations = 5_000

// annotations adds the text of a page's annotations, such as the fields of a form. Their lines and areas are left out: they
// are no part of the page's layout.
func (in *interpreter) annotations(p *object.Page) {
	out := in.out
	lines, fills, dots, marks := out.Lines, out.Fills, out.Dots, out.Marks
	in.resources, in.fonts = p.Resources, map[object.Name]*Font{}
	all := in.file.Array(p.Dict["Annots"])
	out.Unknown = out.Unknown || len(all) > maxAnnotations
	for _, o := range all {
		if out.Unknown { // the rest would be in vain
			break
		}
		if err := in.annotation(in.file.Dict(o)); err != nil {
			out.Unknown = true
		}
	}
	out.Lines, out.Fills, out.Dots, out.Marks = lines, fills, dots, marks
}

// annotation draws an annotation's form, scaled into its rectangle (12.5.5).
func (in *interpreter) annotation(d object.Dict) error {
	const hidden, noView = 1 << 1, 1 << 5
	kind := in.file.Name(d["Subtype"])
	flags, _ := in.file.Number(d["F"])
	if bits := int(max(0, min(flags, 1<<30))); kind == "Link" || bits&(hidden|noView) != 0 {
		return nil
	}
	drawn := in.file.Resolve(in.file.Dict(d["AP"])["N"])
	if states, ok := drawn.(object.Dict); ok {
		drawn = in.file.Resolve(states[in.file.Name(d["AS"])])
	}
	form, ok := drawn.(*object.Stream)
	if !ok {
		return nil
	}
	if kind == "Widget" && in.reader.filled {
		in.out.Unknown = true
		return nil
	}
	to, ok1 := in.file.Rectangle(d["Rect"])
	box, ok2 := in.file.Rectangle(form.Dict["BBox"])
	if !ok1 || !ok2 || to[0] == to[2] || to[1] == to[3] {
		return nil
	}
	m, ok := in.reader.matrix(form.Dict["Matrix"])
	if !ok {
		m = identity
	}
	from, x, y := m.around(box), 1.0, 1.0
	if w := from.width(); w != 0 {
		x = (to[2] - to[0]) / w
	}
	if h := from.height(); h != 0 {
		y = (to[3] - to[1]) / h
	}
	return in.form(form, m.times(matrix{x, 0, 0, y, to[0] - from.Left*x, to[1] - from.Top*y}))
}
