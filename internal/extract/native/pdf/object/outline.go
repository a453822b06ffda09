package object

// Bookmark is an entry of a document's outline (12.3.3).
type Bookmark struct {
	Title String // a text string
	Page  int    // from 1; 0: it leads elsewhere, or nowhere
	Level int    // from 1
}

// The bounds of an outline.
const (
	maxBookmarks    = 5_000
	maxOutlineLevel = 40
	maxNamed        = 50_000 // named places, and nodes of their tree
	// What may be read of a file for its outline, see spend: this, and outlineRatio times its size.
	outlineLexed = 16 << 20
	outlineRatio = 2
)

// Outline returns the document's outline in order; false if it costs too much to read, or is too long.
func (f *File) Outline() ([]Bookmark, bool) {
	o := outline{file: f, seen: map[Ref]bool{}, most: f.lexed + outlineLexed + outlineRatio*f.size, left: maxNamed}
	o.add(f.Dict(f.Root()["Outlines"])["First"], 1)
	return o.found, !o.spent()
}

type outline struct {
	file  *File
	found []Bookmark
	seen  map[Ref]bool
	pages map[Ref]int       // nil: not read yet
	named map[string]Object // the same
	most  int64             // that may be read, of File.lexed
	left  int               // named places and nodes of their tree that may be read
}

// spent reports whether no more is read.
func (o *outline) spent() bool { return o.file.lexed > o.most || o.left < 0 }

// add adds an entry, those below it, and those that follow it.
func (o *outline) add(entry Object, level int) {
	for level <= maxOutlineLevel && len(o.found) < maxBookmarks && !o.spent() {
		ref, ok := entry.(Ref)
		if !ok || o.seen[ref] {
			return
		}
		o.seen[ref] = true
		d := o.file.Dict(ref)
		if d == nil {
			return
		}
		title, _ := o.file.Resolve(d["Title"]).(String)
		o.found = append(o.found, Bookmark{title, o.page(d), level})
		o.add(d["First"], level+1)
		entry = d["Next"]
	}
}

// page returns the number of the page that an entry leads to (12.3.2).
func (o *outline) page(d Dict) int {
	place := o.file.Resolve(d["Dest"])
	if action := o.file.Dict(d["A"]); place == nil && o.file.Name(action["S"]) == "GoTo" {
		place = o.file.Resolve(action["D"])
	}
	switch v := place.(type) {
	case Name:
		place = o.file.Resolve(o.namedPlace(string(v)))
	case String:
		place = o.file.Resolve(o.namedPlace(string(v)))
	}
	if v, ok := place.(Dict); ok {
		place = o.file.Resolve(v["D"])
	}
	where, _ := place.(Array)
	if len(where) == 0 {
		return 0
	}
	switch v := where[0].(type) {
	case Ref:
		return o.pageOf(v)
	case float64:
		return int(max(-1, min(v, maxPages))) + 1
	}
	return 0
}

func (o *outline) pageOf(ref Ref) int {
	if o.pages == nil {
		o.pages = map[Ref]int{}
		next := o.file.Pages()
		for number := 1; ; number++ {
			p, ok := next()
			if !ok || o.spent() {
				break
			}
			if _, twice := o.pages[p.ref]; !twice {
				o.pages[p.ref] = number
			}
		}
	}
	return o.pages[ref]
}

func (o *outline) namedPlace(name string) Object {
	if o.named == nil {
		o.named = map[string]Object{}
		root := o.file.Root()
		for key, place := range o.file.Dict(root["Dests"]) {
			o.named[string(key)] = place
		}
		o.readNames(o.file.Dict(root["Names"])["Dests"], 0)
	}
	return o.named[name]
}

// readNames reads a tree of names (7.9.6).
func (o *outline) readNames(node Object, level int) {
	if o.left--; o.spent() || level > maxTree {
		return
	}
	d := o.file.Dict(node)
	for pairs := o.file.Array(d["Names"]); len(pairs) > 1 && !o.spent(); pairs = pairs[2:] {
		if key, ok := o.file.Resolve(pairs[0]).(String); ok {
			o.named[string(key)] = pairs[1]
		}
		o.left--
	}
	for _, kid := range o.file.Array(d["Kids"]) {
		if o.spent() {
			return
		}
		o.readNames(kid, level+1)
	}
}
