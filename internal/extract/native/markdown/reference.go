package markdown

import (
	"bufio"
	"context"
	"errors"
	"io"
	"regexp"

	"github.com/yuin/goldmark/parser"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxReferences bounds the definitions that are kept: a link whose definition is not stays as it is
// written.
const maxReferences = 2000

// definition is a line that defines a link; a footnote is none.
var definition = regexp.MustCompile(`^ {0,3}\[([^\]\[^][^\]\[]{0,200})\]:[ \t]*\S`)

// references finds what links refer to by name anywhere in the file: they often stand at its end, in
// another slice than the links.
func references(ctx context.Context, path string) ([]parser.Reference, error) {
	rc, _, err := charset.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rc.Close() }() // it is only read
	var found []parser.Reference
	for lines := bufio.NewReaderSize(rc, maxLine); len(found) < maxReferences; {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err := lines.ReadSlice('\n')
		if m := definition.FindSubmatch(line); m != nil {
			// Where a link leads doesn't matter: only its text is extracted.
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
