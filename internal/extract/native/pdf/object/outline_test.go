package object_test

import (
	"fmt"
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
	if got := f.Outline(); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}
