package markdown

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/yuin/goldmark/parser"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxReferences limits the link definitions that are kept. A link whose definition is not kept remains literal
// text.
const maxReferences = 2000

// definition matches a line that defines a link, not a footnote.
var definition = pattern.New(`^ {0,3}\[([^\]\[^][^\]\[]{0,200})\]:[ \t]*\S`)

// references returns the link definitions of the whole file. They are often at its end, in another slice than
// the links.
func references(ctx context.Context, path string) ([]parser.Reference, error) {
	rc, _, err := charset.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rc.Close() }() // read-only
	var found []parser.Reference
	for lines := bufio.NewReaderSize(rc, maxLine); len(found) < maxReferences; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err := lines.ReadSlice('\n')
		if m := definition.FindSubmatch(line); m != nil {
			// Only the link's text is extracted, so the target is omitted.
			found = append(found, parser.NewReference(append([]byte(nil), m[1]...), []byte("#"), nil))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, taskerr.Errorf(taskerr.CorruptionDetected, "the text can't be read to its end: %w", err)
		}
	}
	return found, nil
}
