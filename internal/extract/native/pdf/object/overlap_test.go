package object_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// counter counts what is read, and fails beyond a limit.
type counter struct {
	io.ReaderAt
	left int64
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	if c.left -= int64(len(p)); c.left < 0 {
		return 0, errors.New("too much is read")
	}
	return c.ReaderAt.ReadAt(p, at)
}

// TestObjectsThatOverlap: a file of half a megabyte, each of whose objects goes on to its end, would be read for 10 GB.
func TestObjectsThatOverlap(t *testing.T) {
	t.Parallel()
	numbered := func(i int, rest string) string { return fmt.Sprintf("%d 0 obj%s ", i, rest) }
	for name, piece := range map[string]func(int) string{
		"strings":     func(i int) string { return numbered(i, "(") },
		"hex strings": func(i int) string { return numbered(i, "<") },
		"comments":    func(i int) string { return numbered(i, "%") },
		"arrays":      func(i int) string { return numbered(i, "[") },
		"trailers":    func(int) string { return "trailer(" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			b.WriteString("%PDF-1.4\n")
			for i := 1; b.Len() < 500_000; i++ {
				b.WriteString(piece(i))
			}
			in := &counter{strings.NewReader(b.String()), 5 * small}
			if _, err := object.OpenWithin(t.Context(), in, int64(b.Len()), small, small); err == nil || in.left < 0 {
				t.Errorf("%v, %d KB are left", err, in.left>>10)
			}
		})
	}
}

// TestPackedObjectsThatOverlap is the same within a stream of objects, whose reads are not seen from outside.
func TestPackedObjectsThatOverlap(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 20_000 {
		pairs = append(pairs, fmt.Sprint(100+i), "(")
	}
	pairs = append(pairs, "99", strings.Repeat(")", 20_000))
	file := "%PDF-1.5\n" + packed(pairs...) + tree + "3 0 obj <</Type/Page>> endobj\n4 0 obj <</Type/Page>> endobj\n" +
		"trailer <</Root 1 0 R>>\n"
	f, err := object.OpenWithin(t.Context(), strings.NewReader(file), int64(len(file)), small, small)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for i := range 20_000 {
		if f.Resolve(object.Ref{Object: 100 + i}) != nil {
			read++
		}
	}
	if read == 0 || read > 1000 {
		t.Errorf("%d of 20,000 objects of up to 60 KB were read", read)
	}
}

// TestOffsetsBeyondNumbers: an offset that no integer holds must not become a negative one.
func TestOffsetsBeyondNumbers(t *testing.T) {
	t.Parallel()
	content := "8 0 (text)"
	for name, first := range map[string]string{"huge": strings.Repeat("9", 40), "more than memory": "9223372036854775000"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := fmt.Sprintf("%%PDF-1.5\n%s3 0 obj <</Type/Page>> endobj\n4 0 obj <</Type/Page>> endobj\n"+
				"9 0 obj <</Type/ObjStm/N 1/First %s/Length %d>>stream\n%s\nendstream endobj trailer <</Root 1 0 R>>",
				tree, first, len(content), content)
			f, err := object.Open(t.Context(), strings.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			if o := f.Resolve(object.Ref{Object: 8}); o != nil {
				t.Errorf("got %v", o)
			}
		})
	}
}
