package content

import "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"

// object draws a form (8.10), or notes where an image is.
func (in *interpreter) object() error {
	if len(in.operands) == 0 || in.forms >= maxForms {
		return nil
	}
	name, _ := in.operands[0].object.(object.Name)
	form, ok := in.file.Resolve(in.file.Dict(in.resources["XObject"])[name]).(*object.Stream)
	if !ok {
		return nil
	}
	switch in.file.Name(form.Dict["Subtype"]) {
	case "Image":
		in.image()
		return nil
	case "Form":
	default:
		return nil
	}
	m, ok := in.reader.matrix(form.Dict["Matrix"])
	if !ok {
		m = identity
	}
	return in.form(form, m)
}

// image notes where an image is shown: in the square of which a side is one unit (8.9.3).
func (in *interpreter) image() {
	b := in.state.matrix.around([4]float64{0, 0, 1, 1}).intersect(in.state.clip)
	if len(in.out.Images) < maxImages && !in.state.fill.hidden && finite(b) && !b.empty() {
		in.out.Images = append(in.out.Images, b)
	}
}

// form draws a form that m maps to what is around it.
func (in *interpreter) form(form *object.Stream, m matrix) error {
	r, err := in.file.Reader(form)
	if err != nil {
		return nil //nolint:nilerr // it is missing
	}
	outer, saved, path := in.state, in.saved, in.path
	text, line := in.textMatrix, in.lineMatrix // a form within a line should not be, and is
	in.forms++
	in.saved, in.path = nil, nil
	in.state.matrix = m.times(in.state.matrix)
	if b, ok := in.file.Rectangle(form.Dict["BBox"]); ok {
		in.state.clip = in.state.clip.intersect(in.state.matrix.around(b))
	}
	err = in.run(r, in.file.Dict(form.Dict["Resources"]))
	in.state, in.saved, in.path = outer, saved, path
	in.textMatrix, in.lineMatrix = text, line
	in.forms--
	return err
}
