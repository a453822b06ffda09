package markdown

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/yuin/goldmark/parser"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	// maxReferences limits the link definitions that are kept. A link whose definition is not kept remains literal
	// text.
	maxReferences = 2000
	maxTarget     = 2 << 10 // bytes; a link to a longer address is not kept (extract.Target)
)

// definition matches a line that defines a link, not a footnote: its label, and its address without or within <>. A
// title may follow, and end on another line.
var definition = pattern.New(`^ {0,3}\[([^\]\[^][^\]\[]{0,200})\]:[ \t]*(?:<([^<>\n]*)>|([^\s<]\S*))(?:\s+["'(]|\s*$)`)

// references returns the link definitions of the whole file. They are often at its end, in another slice than
// the links.
func references(ctx context.Context, path string) ([]parser.Reference, error) {
	rc, _, err := charset.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rc.Close() }() // read-only
	var found []parser.Reference
	var code slicer // an example in a code block defines nothing
	for lines := bufio.NewReaderSize(rc, maxLine); len(found) < maxReferences; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err := lines.ReadSlice('\n')
		if m := definition.FindSubmatch(line); m != nil && code.fence == nil {
			found = append(found, reference(m[1], append(m[2], m[3]...)))
		}
		code.follow(line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, taskerr.Errorf(taskerr.CorruptionDetected, "the text can't be read to its end: %w", err)
		}
	}
	return found, nil
}

// reference returns the definition of a link; the reader's buffer has its parts. Without an address that is kept, the
// link's text is still told from brackets.
func reference(label, address []byte) parser.Reference {
	if len(address) > maxTarget {
		address = []byte("#")
	}
	return parser.NewReference(bytes.Clone(label), bytes.Clone(address), nil)
}
