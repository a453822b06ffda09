package object_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// Bookmarks lead to pages by arrays, by names of both kinds, and by actions. Loops end.
func TestOutline(t *testing.T) {
	t.Parallel()
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R /Dests << /old [4 0 R /Fit] >> /Names << /Dests << /Kids [12 0 R] >> >> >>",
		"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
		"<< /Type /Page /MediaBox [0 0 9 9] >>",
		"<< /Type /Page /MediaBox [0 0 9 9] >>",
		"<< /First 6 0 R >>",
		"<< /Title (one) /Dest [3 0 R /Fit] /First 7 0 R /Next 9 0 R >>",
		"<< /Title (below) /A << /S /GoTo /D (new) >> /First 8 0 R >>",
		"<< /Title (deep) /A << /S /URI /URI (https://example.com) >> /First 6 0 R /Next 7 0 R >>",
		"<< /Title (two) /Dest /old /Next 10 0 R >>",
		"<< /Title 5 /Dest [1 /Fit] /Next 11 0 R >>",
		"<< /Title (nowhere) /Dest (missing) /Next 9 0 R >>",
		"<< /Names [(a) [3 0 R] (new) << /D [4 0 R /XYZ 0 0 0] >>] /Kids [12 0 R] >>",
	}
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	f, err := object.Open(t.Context(), strings.NewReader(b.String()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	want := []object.Bookmark{
		{Title: "one", Page: 1, Level: 1},
		{Title: "below", Page: 2, Level: 2},
		{Title: "deep", Level: 3},
		{Title: "two", Page: 2, Level: 1},
		{Page: 2, Level: 1},
		{Title: "nowhere", Level: 1},
	}
	if got, ok := f.Outline(); !ok || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, ok)
	}
}

// An outline whose tree of names has the same branch a hundred thousand times is given up: two megabytes took seven
// seconds, in which nothing stopped them. So is one whose bookmarks share a place of a megabyte.
func TestCostlyOutline(t *testing.T) {
	t.Parallel()
	names := strings.Repeat("(a) [3 0 R] ", 90_000)
	var bookmarks strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&bookmarks, "%d 0 obj\n<< /Title (one) /Dest 8 0 R /Next %d 0 R >>\nendobj\n", 9+i, 10+i)
	}
	for name, destination := range map[string]string{"names": "(x)", "places": "8 0 R /Next 9 0 R"} {
		var b strings.Builder
		b.WriteString("%PDF-1.4\n")
		for i, o := range []string{
			"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R /Names << /Dests << /Kids [" + strings.Repeat("7 0 R ", 100_000) + "] >> >> >>",
			"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", "<< /Type /Page /MediaBox [0 0 9 9] >>", "<< >>", "<< /First 6 0 R >>",
			"<< /Title (one) /Dest " + destination + " >>", "<< /Names 8 0 R >>", "[" + names + "]",
		} {
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
		}
		b.WriteString(bookmarks.String())
		in := &counting{ReaderAt: strings.NewReader(b.String())}
		f, err := object.Open(t.Context(), in, int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		in.read = 0
		if got, ok := f.Outline(); ok || in.read > 25<<20 {
			t.Errorf("%s: %d bookmarks, %v after %d MB", name, len(got), ok, in.read>>20)
		}
	}
}

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt

	read int64
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.read += int64(len(p))
	return c.ReaderAt.ReadAt(p, at)
}
