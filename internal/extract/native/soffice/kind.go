package soffice

import (
	"archive/zip"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// kinds are what documents of other office programs are usually converted to, by their extensions.
var kinds = map[string]target{
	"wpd": text, "wps": text, "pages": text, "hwp": text,
	"vsd": vector, "vsdx": vector, "vsdm": vector, "pub": vector,
	"numbers": sheet, "key": slides,
}

// kind returns the extension for a document, and its targets in the order in which they are tried.
func kind(src extract.Source, all []target) (string, []target) {
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(src.Name), "."))
	if _, known := kinds[extension]; !known {
		extension = guess(src.Path)
	}
	first := kinds[extension]
	rest := slices.DeleteFunc(slices.Clone(all), func(t target) bool { return t == first })
	return extension, append([]target{first}, rest...)
}

// guess returns the extension that suits the content. detect has seen the same marks.
func guess(path string) string {
	if f, err := compound.Open(path); err == nil {
		defer func() { _ = f.Close() }() // read-only
		switch {
		case f.Has("VisioDocument"):
			return "vsd"
		case f.Has("Quill"):
			return "pub"
		case f.Has("FileHeader"):
			return "hwp"
		}
		return "wps"
	}
	a, err := zip.OpenReader(path) // detect has checked its directory
	if err != nil {
		return "wpd"
	}
	defer func() { _ = a.Close() }() // read-only
	for _, f := range a.File {
		switch {
		case strings.HasPrefix(f.Name, "visio/"):
			return "vsdx"
		case strings.HasPrefix(f.Name, "Index/Slide"), f.Name == "index.apxl":
			return "key"
		}
	}
	return "pages"
}

// unreadable is the error of a document that LibreOffice can't convert.
func unreadable(src extract.Source) error {
	if protected(src) {
		return taskerr.PasswordProtected("the Office file")
	}
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"LibreOffice can't read the document: it is damaged, or of an unknown kind; save it in a modern format (DOCX, XLSX, "+
			"PPTX, PDF) and upload that")
}

// protected recognizes encrypted Word ([MS-DOC] 2.5.2), Excel ([MS-XLS] 2.4.117) and PowerPoint files ([MS-PPT]
// 2.3.2).
func protected(src extract.Source) bool {
	f, err := compound.Open(src.Path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // read-only
	switch src.Format {
	case extract.DOC:
		const flagsAt, encrypted = 10, 1 << 8
		fib := f.Read("WordDocument", 32)
		return len(fib) == 32 && binary.LittleEndian.Uint16(fib[flagsAt:])&encrypted != 0
	case extract.XLS:
		const filePass = 0x2F
		records := f.Read("Workbook", 64<<10)
		if len(records) == 0 {
			records = f.Read("Book", 64<<10)
		}
		for len(records) >= 4 {
			kind, size := binary.LittleEndian.Uint16(records), int(binary.LittleEndian.Uint16(records[2:]))
			if kind == filePass {
				return true
			}
			records = records[min(4+size, len(records)):]
		}
	case extract.PPT:
		const tokenAt, encrypted = 12, 0xF3D1C4DF
		user := f.Read("Current User", 32)
		return len(user) >= tokenAt+4 && binary.LittleEndian.Uint32(user[tokenAt:]) == encrypted
	}
	return false
}
