package object

import "slices"

// Page is a page with what it inherits from the tree of pages.
type Page struct {
	Dict

	Box       [4]float64 // the media box: left, bottom, right, top
	Rotate    int        // degrees clockwise: 0, 90, 180 or 270
	Resources Dict

	ref Ref // zero: it is not an object of its own
}

const (
	maxPages = 50_000
	maxTree  = 40 // levels
)

// inherited is what pages inherit (7.7.3.4).
var inherited = [...]Name{"MediaBox", "Rotate", "Resources"}

// Pages returns a function that returns the pages one after the other, and false after the last one.
func (f *File) Pages() func() (*Page, bool) {
	type level struct {
		kids Array
		from Dict   // what its kids inherit
		of   Object // whose kids they are
	}
	tree := []level{{Array{f.Root()["Pages"]}, Dict{}, nil}}
	within := map[Object]bool{} // the references of the levels
	nodes, waiting := 0, 1      // waiting: kids of all levels
	return func() (*Page, bool) {
		for len(tree) > 0 {
			top := &tree[len(tree)-1]
			if nodes++; len(top.kids) == 0 || nodes > 2*maxPages {
				waiting -= len(top.kids)
				delete(within, top.of)
				tree = tree[:len(tree)-1]
				continue
			}
			ref, _ := top.kids[0].(Ref)
			kid := f.Dict(top.kids[0])
			top.kids = top.kids[1:]
			waiting--
			if kid == nil || within[ref] {
				continue // as poppler does
			}
			from := Dict{}
			for _, name := range inherited {
				if from[name] = kid[name]; from[name] == nil {
					from[name] = top.from[name]
				}
			}
			kids := f.Array(kid["Kids"])
			if kids == nil {
				return f.page(kid, from, ref), true
			}
			if len(tree) < maxTree {
				kids = slices.Clone(kids[:min(len(kids), max(0, 2*maxPages-nodes-waiting))]) // more are never reached
				waiting += len(kids)
				within[ref] = ref != Ref{}
				tree = append(tree, level{kids, from, ref})
			}
		}
		return nil, false
	}
}

func (f *File) page(d, from Dict, ref Ref) *Page {
	p := &Page{Dict: d, ref: ref, Box: [4]float64{0, 0, 612, 792}, Resources: f.Dict(from["Resources"])}
	if box, ok := f.Rectangle(from["MediaBox"]); ok {
		p.Box = box
	}
	if v, ok := f.Number(from["Rotate"]); ok && v > -1e6 && v < 1e6 {
		p.Rotate = (int(v)%360 + 360) % 360 / 90 * 90
	}
	return p
}

// Rectangle returns a rectangle as left, bottom, right, top.
func (f *File) Rectangle(o Object) (box [4]float64, ok bool) {
	corners := f.Array(o)
	if len(corners) < len(box) {
		return box, false
	}
	for i := range box {
		if box[i], ok = f.Number(corners[i]); !ok {
			return box, false
		}
	}
	return [4]float64{
		min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3]),
	}, true
}

// Contents returns the streams of a page's content. The page is what they draw one after the other.
func (f *File) Contents(p *Page) []*Stream {
	const most = 10_000
	switch v := f.Resolve(p.Dict["Contents"]).(type) {
	case *Stream:
		return []*Stream{v}
	case Array:
		var out []*Stream
		for _, o := range v[:min(len(v), most)] {
			if s, ok := f.Resolve(o).(*Stream); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
