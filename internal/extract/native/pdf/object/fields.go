package object

// Field is a field of a form.
type Field struct {
	Area   [4]float64 // left, bottom, right, top
	Button bool       // a box to tick, or one of several to choose from; else it has text
	On     bool       // it is ticked
}

const (
	maxFields  = 1_000 // of a page
	maxParents = 16    // of a field
)

// Fields returns the fields on a page that are shown and have a value (12.7.4). Buttons that start an action have none.
func (f *File) Fields(p *Page) (out []Field) {
	const hidden, noView, pushed = 1 << 1, 1 << 5, 1 << 16
	all := f.Array(p.Dict["Annots"])
	for _, o := range all[:min(len(all), maxAnnotations)] {
		d := f.Dict(o)
		if f.Name(d["Subtype"]) != "Widget" || f.bits(d["F"])&(hidden|noView) != 0 {
			continue
		}
		kind := f.Name(f.inherited(d, "FT"))
		button := kind == "Btn"
		if button && f.bits(f.inherited(d, "Ff"))&pushed != 0 || !button && kind != "Tx" && kind != "Ch" {
			continue
		}
		if r, ok := f.Rectangle(d["Rect"]); ok && len(out) < maxFields {
			out = append(out, Field{r, button, button && f.on(d)})
		}
	}
	return out
}

// on reports whether a button is ticked: its state is, or, if that isn't known, it is the one that the field's value names.
func (f *File) on(d Dict) bool {
	state := f.Name(d["AS"])
	if state == "" {
		states := f.Dict(f.Dict(d["AP"])["N"])
		if state = f.Name(f.inherited(d, "V")); states[state] == nil {
			return false
		}
	}
	return state != "" && state != "Off"
}

// inherited returns an attribute of a field, or of one that it is a part of (12.7.3.1).
func (f *File) inherited(d Dict, key Name) Object {
	for range maxParents {
		if o := f.Resolve(d[key]); o != nil {
			return o
		}
		parent, ok := f.Resolve(d["Parent"]).(Dict)
		if !ok {
			break
		}
		d = parent
	}
	return nil
}

// bits returns the flags of an annotation or a field.
func (f *File) bits(o Object) int {
	v, _ := f.Number(o)
	return int(max(0, min(v, 1<<30)))
}
