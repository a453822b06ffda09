package object_test

import (
	"encoding/ascii85"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// TestLongTextStreams: streams in text are read to their end, however long they are, and not further.
func TestLongTextStreams(t *testing.T) {
	t.Parallel()
	want := strings.Repeat("0 0 m 1 2 l S\n", 400_000) // 5.6 MB
	encoded := make([]byte, ascii85.MaxEncodedLen(len(want)))
	encoded = encoded[:ascii85.Encode(encoded, []byte(want))]
	for name, tt := range map[string]struct{ filter, data, want string }{
		"hexadecimal":         {"ASCIIHexDecode", hex.EncodeToString([]byte(want)) + ">20", want},
		"spaces and an odd 7": {"ASCIIHexDecode", "6 1\n6\n2\t7>", "abp"},
		"no end":              {"ASCIIHexDecode", "61 6", "a`"},
		"nothing":             {"ASCIIHexDecode", ">61", ""},
		"base 85":             {"ASCII85Decode", string(encoded) + "~>!!!!", want},
		"base 85, no end":     {"ASCII85Decode", string(encoded), want},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := plain[:strings.Index(plain, "4 0 obj")] + fmt.Sprintf(
				"4 0 obj\n<</Filter/%s/Length %d>>\nstream\n%s\nendstream\nendobj\n", tt.filter, len(tt.data), tt.data)
			_, got, err := content(t.Context(), withTable(file))
			if err != nil || got != tt.want {
				t.Errorf("%d bytes %.20q, %v; want %d", len(got), got, err, len(tt.want))
			}
		})
	}
}

// TestLongObjectsAreReported: comments beyond what is read of a stream of objects, or of a string, are not missing
// silently.
func TestLongObjectsAreReported(t *testing.T) {
	t.Parallel()
	filling := strings.Repeat(" ", 5<<20)
	start := []string{"1", "<</Type/Catalog/Pages 2 0 R>>", "2", "<</Type/Pages/Kids[3 0 R]>>", "3", "<</Type/Page/Annots[5 0 R]>>"}
	for name, tt := range map[string]struct {
		objects []string
		partly  bool
	}{
		"a stream of objects": {append(start[:6:6], "4", "["+filling+"]", "5", "<</Subtype/Text/Contents(a)>>"), true},
		"a string":            {append(start[:6:6], "5", "<</Subtype/Text/Contents("+strings.Repeat("a", 70_000)+")>>"), true},
		"neither":             {append(start[:6:6], "5", "<</Subtype/Text/Contents(a)>>"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := scan(t, "%PDF-1.5\n"+packed(tt.objects...)+"trailer <</Root 1 0 R>>\n"); found.Partly != tt.partly {
				t.Errorf("partly: %v, %d notes", found.Partly, len(found.Notes))
			}
		})
	}
}
