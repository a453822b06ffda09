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

// definitions are what a file defines for its slices, often at its end, in another slice than where it is used.
type definitions struct {
	links []parser.Reference
	notes *notes
}

// definitionsOf returns the definitions of the whole file.
func definitionsOf(ctx context.Context, path string) (definitions, error) {
	rc, _, err := charset.Open(path)
	if err != nil {
		return definitions{}, err
	}
	defer func() { _ = rc.Close() }() // read-only
	return scan(ctx, rc)
}

func scan(ctx context.Context, r io.Reader) (definitions, error) {
	found := definitions{notes: &notes{numbers: map[string]int{}}}
	var within opening // an example in a code block defines nothing
	for lines := bufio.NewReaderSize(r, maxLine); ; {
		if ctx.Err() != nil {
			return definitions{}, context.Cause(ctx)
		}
		line, err := lines.ReadSlice('\n')
		if within.fence == nil {
			found.add(line)
		}
		within.follow(line)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return definitions{}, taskerr.Errorf(taskerr.CorruptionDetected, "the text can't be read to its end: %w", err)
		}
	}
}

// add adds what a line defines.
func (d *definitions) add(line []byte) {
	if !bytes.Contains(line, []byte("]:")) { // as most don't
		return
	}
	if m := definition.FindSubmatch(line); m != nil && len(d.links) < maxReferences {
		d.links = append(d.links, reference(m[1], append(m[2], m[3]...)))
	}
	if m := noteDefinition.FindSubmatch(line); m != nil {
		d.notes.add(m[1])
	}
}

// reference returns the definition of a link; the reader's buffer has its parts. Without an address that is kept, the
// link's text is still told from brackets.
func reference(label, address []byte) parser.Reference {
	if len(address) > maxTarget {
		address = []byte("#")
	}
	return parser.NewReference(bytes.Clone(label), bytes.Clone(address), nil)
}
