package object

// Sound reports whether the file was read by its own tables of objects and is not encrypted. Then all readers of the
// file see the same objects.
func (f *File) Sound() bool { return !f.searched && f.trailer["Encrypt"] == nil }

// Objects returns the number of objects that the tables have room for.
func (f *File) Objects() int { return len(f.places) }

// Info returns the dictionary with the document's title and the like (14.3.3), or nil.
func (f *File) Info() Dict {
	d, _ := f.Resolve(f.trailer["Info"]).(Dict)
	return d
}

// Linearized returns the dictionary of a file that is prepared for being read from a network (annex F), or nil.
func (f *File) Linearized() Dict {
	_, o, err := f.objectAt(f.start)
	if err != nil {
		return nil
	}
	d, _ := o.(Dict)
	if d["Linearized"] == nil {
		return nil
	}
	return d
}
