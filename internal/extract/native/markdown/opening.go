package markdown

import (
	"bytes"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// maxHead is the largest header of a table, in bytes, that is repeated: the slice must have room for rows.
const maxHead = 4 << 10

var (
	// fenceLine matches a fence with the markers of the lists that begin on its line.
	fenceLine     = pattern.New("^((?: *(?:[-*+]|\\d{1,9}[.)])[ \t]+)*)( *)(`{3,}|~{3,})([^\n]*)")
	delimiterLine = pattern.New(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?\n$`)
)

// opening is the start of the code block or the table that a line is in. Without it the parser can't know what the rest
// of the block is, so a slice that begins within the block repeats it.
type opening struct {
	fence []byte // of the current code block, without its language, markers being blanks, or nil
	item  int    // the width of the markers before the fence: the block ends with their list's item
	table []byte // header and delimiter of the current table, or nil
	above []byte // the last line
}

// follow tracks where code blocks and tables begin and end.
func (o *opening) follow(line []byte) {
	if text := bytes.TrimLeft(line, " \t"); len(line)-len(text) < o.item && len(bytes.TrimSpace(text)) > 0 {
		o.fence, o.item = nil, 0
	}
	if o.fence == nil {
		o.followTable(line)
	}
	m := fenceLine.FindSubmatch(line)
	if m == nil {
		return
	}
	item, indent, marks, rest := len(m[1]), len(m[2]), m[3], m[4]
	if o.fence == nil {
		if inline := marks[0] == '`' && bytes.IndexByte(rest, '`') >= 0; indent <= 3 && !inline {
			o.fence, o.item, o.table = append(bytes.Repeat([]byte(" "), item+indent), marks...), item, nil
		}
		return
	}
	if item > 0 {
		return // code that looks like an item
	}
	open := bytes.TrimLeft(o.fence, " ")
	// The fences of a list's item are indented as far as its text, plus three blanks at most.
	if indent <= len(o.fence)-len(open)+3 && marks[0] == open[0] && len(marks) >= len(open) && len(bytes.TrimSpace(rest)) == 0 {
		o.fence, o.item = nil, 0
	}
}

func (o *opening) followTable(line []byte) {
	switch {
	case bytes.IndexByte(line, '|') < 0:
		o.table = nil
	case o.table == nil && len(o.above)+len(line) <= maxHead && marks(o.above) <= maxMarks/4 &&
		delimiterLine.Match(line) && columns(line) == columns(o.above):
		o.table = append(bytes.Clone(o.above), line...)
	}
	o.above = append(o.above[:0], line...)
}

// columns counts the cells of a table's row, zero if the line isn't one.
func columns(line []byte) int {
	line = bytes.TrimSpace(line)
	if bytes.IndexByte(line, '|') < 0 {
		return 0
	}
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("|")), []byte("|"))
	return 1 + bytes.Count(line, []byte("|")) - bytes.Count(line, []byte(`\|`))
}

// resume returns the slice that begins with a line, and with the opening of the block that this line continues.
func (o *opening) resume(line []byte) slice {
	switch {
	case o.fence != nil:
		fence := bytes.TrimPrefix(o.fence, bytes.Repeat([]byte(" "), o.item)) // more than three blanks would make it code itself
		return slice{text: append(append(bytes.Clone(fence), '\n'), line...)}
	case o.table != nil && bytes.IndexByte(line, '|') >= 0:
		return slice{text: append(bytes.Clone(o.table), line...), continued: true}
	}
	return slice{text: bytes.Clone(line)}
}
