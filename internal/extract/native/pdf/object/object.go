// Package object reads the objects of PDF files (ISO 32000-1, chapter 7): dictionaries and streams, found by the
// file's cross-reference table or, if that is damaged, by a search of the file. It holds a few objects at a time.
//
// Files are untrusted: depth, number and size of everything are bounded, and what is damaged is an error or
// missing, never a panic.
package object

// Object is nil, a bool, a float64, a String, a Name, an Array, a Dict, a *Stream or a Ref.
type Object any

type (
	// String is a string's bytes.
	String string
	// Name is a name without its slash.
	Name string
	// Array is an array, whose items may be references.
	Array []Object
	// Dict is a dictionary, whose values may be references.
	Dict map[Name]Object
)

// Ref is a reference to an object.
type Ref struct{ Object, Generation int }

// Stream is a stream whose bytes are still in the file.
type Stream struct {
	Dict
	ref    Ref
	offset int64 // of its bytes
}

// Number returns the value of a direct number.
func Number(o Object) (float64, bool) {
	v, ok := o.(float64)
	return v, ok
}
