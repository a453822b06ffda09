package object

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Note is a comment on a page.
type Note struct {
	Page   int // from 1
	Author string
	Text   string
}

// Found is what poppler's programs don't print of a file.
type Found struct {
	Notes     []Note // by page
	Files     bool   // files may be embedded in it
	Encrypted bool   // its notes are encrypted, if there are any
	Partly    bool   // there may be more notes
}

// comments are the kinds of annotations whose text isn't drawn on the page (12.5.6).
func comments(kind Name) bool {
	switch kind {
	case "Text", "Highlight", "Underline", "Squiggly", "StrikeOut", "Caret", "Ink", "Line", "Square", "Circle",
		"Polygon", "PolyLine", "Stamp", "FileAttachment":
		return true
	}
	return false
}

const (
	maxNotes       = 100_000 // annotations that are looked at
	maxNoteText    = 8 << 20 // bytes of all notes
	attachmentKind = Name("FileAttachment")
)

// Scan looks for the comments on the pages of a file, and for signs of files within it. A damaged file is not an error:
// what is found in it is returned.
func Scan(ctx context.Context, in io.ReaderAt, size int64) (Found, error) {
	f, openErr := Open(ctx, in, size)
	if openErr != nil {
		return Found{Partly: true}, nil //nolint:nilerr // the reader of the pages reports it
	}
	return f.scan(ctx)
}

func (f *File) scan(ctx context.Context) (found Found, err error) {
	found.Encrypted = f.trailer["Encrypt"] != nil
	root := f.Root()
	names := f.Dict(root["Names"])
	found.Files = names["EmbeddedFiles"] != nil || root["AF"] != nil || root["Collection"] != nil
	next, looked, text := f.Pages(), 0, 0
	seen := map[Ref]bool{} // a page may be in the tree more than once
	for number := 1; ; number++ {
		if ctx.Err() != nil {
			return Found{}, fmt.Errorf("look for comments in a PDF: %w", context.Cause(ctx))
		}
		page, ok := next()
		if !ok {
			found.Partly = found.Partly || f.partly || f.spent() || f.decodedAll()
			return found, nil
		}
		for _, o := range f.Array(page.Dict["Annots"]) {
			if looked++; looked > maxNotes || text > maxNoteText {
				found.Partly = true
				return found, nil
			}
			if ref, ok := o.(Ref); ok && seen[ref] {
				continue
			} else if ok {
				seen[ref] = true
			}
			d := f.Dict(o)
			found.Files = found.Files || d["Subtype"] == attachmentKind || d["AF"] != nil
			if n, ok := f.note(d); ok && !found.Encrypted {
				n.Page = number
				found.Partly = found.Partly || f.cut(d)
				text += len(n.Text)
				found.Notes = append(found.Notes, n)
			}
		}
	}
}

func (f *File) note(d Dict) (Note, bool) {
	contents, _ := f.Resolve(d["Contents"]).(String)
	author, _ := f.Resolve(d["T"]).(String)
	n := Note{Text: strings.TrimSpace(contents.Text()), Author: strings.TrimSpace(author.Text())}
	return n, comments(f.Name(d["Subtype"])) && n.Text != ""
}

// cut reports whether the text of a comment is longer than strings are read.
func (f *File) cut(d Dict) bool {
	contents, _ := f.Resolve(d["Contents"]).(String)
	return len(contents) >= maxString
}
