package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
)

var (
	errDocument = errors.New("the object is a document itself")
	errEquation = errors.New("it is an equation of an old editor")
	errUnknown  = errors.New("it is an object of a program that isn't known")
)

// maxNative is how much of the start of a packaged file is read for its names, in bytes.
const maxNative = 64 << 10

// unwrap returns the file in an object and its name, if that is known. Its error says what the object is instead.
func unwrap(object *compound.File) (content io.Reader, name string, err error) {
	const native = "\x01Ole10Native"
	switch {
	case object.Has(native):
		return packaged(object.Stream(native))
	case object.Has("Package"): // a newer Office document
		return object.Stream("Package"), "", nil
	case object.Has("EmbeddedOdf"):
		return object.Stream("EmbeddedOdf"), "", nil
	case object.Has("CONTENTS"): // of Acrobat
		return object.Stream("CONTENTS"), "", nil
	case object.Has("Equation Native"):
		return nil, "", errEquation
	}
	if slices.ContainsFunc([]string{
		"WordDocument", "Workbook", "Book", "PowerPoint Document", "VisioDocument",
		"__properties_version1.0",
	}, object.Has) {
		return nil, "", errDocument
	}
	return nil, "", errUnknown
}

// packaged reads what Windows' Packager has embedded: after the size and a number two names, two numbers, the path
// that the file had, and the file ([MS-OLEDS] 2.3.6 leaves its content to the program).
func packaged(stream io.Reader) (content io.Reader, name string, err error) {
	head, err := io.ReadAll(io.LimitReader(stream, maxNative))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // an end that is missing is noticed when the file is read
		return nil, "", errUnknown
	}
	at := 6
	names := [2]string{}
	for i := range names {
		if names[i], at, err = text(head, at); err != nil {
			return nil, "", err
		}
	}
	at += 4
	if at+4 > len(head) {
		return nil, "", errUnknown
	}
	at += 4 + int(binary.LittleEndian.Uint32(head[at:]))
	if at < 0 || at+4 > len(head) {
		return nil, "", errUnknown
	}
	size := int64(binary.LittleEndian.Uint32(head[at:]))
	label := names[0]
	if path.Ext(label) == "" {
		label = names[1]
	}
	label = extract.Clean(label[strings.LastIndexAny(label, `/\`)+1:])
	return io.LimitReader(io.MultiReader(bytes.NewReader(head[at+4:]), stream), size), label, nil
}

// text reads a text that ends with a NUL.
func text(head []byte, at int) (string, int, error) {
	if at > len(head) {
		return "", 0, errUnknown
	}
	raw, _, found := bytes.Cut(head[at:], []byte{0})
	if !found {
		return "", 0, errUnknown
	}
	decoded, err := charmap.Windows1252.NewDecoder().String(string(raw))
	return decoded, at + len(raw) + 1, err
}
