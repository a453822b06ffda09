package object_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

func scan(t testing.TB, content string) object.Found {
	t.Helper()
	found, err := object.Scan(t.Context(), strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// packed makes a stream of objects from pairs of number and content.
func packed(pairs ...string) string {
	var head, body, out bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&head, "%s %d ", pairs[i], body.Len())
		body.WriteString(pairs[i+1] + "\n")
	}
	z := zlib.NewWriter(&out)
	_, _ = z.Write(append(head.Bytes(), body.Bytes()...)) // to memory
	_ = z.Close()                                         // as above
	return fmt.Sprintf("90 0 obj\n<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n",
		len(pairs)/2, head.Len(), out.Len(), out.String())
}

const tree = "1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[4 0 R 3 0 R]>> endobj\n"

func TestNotes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content string
		want    []object.Note
	}{
		"pages in order": {
			tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj 4 0 obj <</Type /Page /Annots 6 0 R>> endobj\n" +
				"5 0 obj<</Subtype/Text/Contents(Second \\(page\\)\\041)/T<FEFF00DC>>>endobj 6 0 obj [7 0 R <</Subtype" +
				"/Highlight /Contents(inline)>>] endobj 7 0 obj <</Subtype/Text/Contents(\\\nFirst\\\r\n page)>>endobj",
			[]object.Note{{1, "", "First page"}, {1, "", "inline"}, {2, "Ü", "Second (page)!"}},
		},
		"in a stream of objects": {
			packed("1", "<</Type/Catalog/Pages 2 0 R>>", "2", "<</Type/Pages/Kids[3 0 R]>>", "3",
				"<</Type/Page/Annots[5 0 R]>>", "5", "<</Subtype/Text/Contents(Packed)>>"),
			[]object.Note{{1, "", "Packed"}},
		},
		"a later version": {
			tree + "3 0 obj <</Type/Page/Annots[5 0 R 6 0 R]>> endobj 5 0 obj <</Subtype/Text/Contents(old)>> endobj " +
				"6 0 obj <</Subtype/Text/Contents(gone)>> endobj 3 0 obj <</Type/Page/Annots[5 0 R]>> endobj " +
				"5 0 obj <</Subtype/Text/Contents(new)>> endobj",
			[]object.Note{{1, "", "new"}},
		},
		"drawn by itself": {
			tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj 5 0 obj <</Subtype/FreeText/Contents(drawn)>> endobj", nil,
		},
		"encrypted": {
			tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj 5 0 obj <</Subtype/Text/Contents(\x01\x02)>> endobj\n" +
				"trailer <</Root 1 0 R/Encrypt 9 0 R>>", nil,
		},
		"a loop of pages": {
			"1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Type/Pages/Kids[2 0 R 3 0 R 3 0 R]>> endobj " +
				"3 0 obj <</Type/Page/Annots[5 0 R 5 0 R]>> endobj 5 0 obj <</Subtype/Text/Contents(once)>> endobj",
			[]object.Note{{1, "", "once"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := scan(t, tt.content); !reflect.DeepEqual(got.Notes, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content string
		want    bool
	}{
		"none": {tree, false},
		"names": {
			"1 0 obj <</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles 8 0 R>>>> endobj 2 0 obj <</Type/Pages/Kids[]>> " +
				"endobj", true,
		},
		"portfolio": {
			packed("1", "<</Type/Catalog/Pages 2 0 R/Collection<<>>>>", "2", "<</Type/Pages/Kids[]>>"), true,
		},
		"annotation": {
			tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj 5 0 obj <</Subtype /FileAttachment /FS 7 0 R>> endobj", true,
		},
	} {
		if got := scan(t, tt.content).Files; got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is skipped by its declared length is skipped only if a stream ends there.
func TestLengths(t *testing.T) {
	t.Parallel()
	note := tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj 5 0 obj <</Subtype/Text/Contents(here)>> endobj "
	for _, length := range []string{"4", "0", "-5", "100", "1e30", "99999999"} {
		content := "8 0 obj <</Length " + length + ">> stream\n1234\nendstream endobj " + note
		if got := scan(t, content).Notes; len(got) != 1 {
			t.Errorf("length %s: %+v", length, got)
		}
	}
}

// TestPagesInALoop: a branch of the tree within itself is left out, so that the numbers of the pages after it are right.
func TestPagesInALoop(t *testing.T) {
	t.Parallel()
	found := scan(t, "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[3 0 R 2 0 R 4 0 R]>> endobj\n"+
		"3 0 obj <</Type/Page>> endobj\n4 0 obj <</Type/Page/Annots[<</Subtype/Text/Contents(a)>>]>> endobj\n")
	if len(found.Notes) != 1 || found.Notes[0].Page != 2 {
		t.Errorf("got %+v", found.Notes)
	}
}

// TestBudgetIsReported: comments that are missing because the file costs too much are not missing silently.
func TestBudgetIsReported(t *testing.T) {
	t.Parallel()
	var pairs []string
	var refs strings.Builder
	for i := range 20_000 {
		pairs = append(pairs, fmt.Sprint(100+i), "(")
		fmt.Fprintf(&refs, "%d 0 R ", 100+i)
	}
	pairs = append(pairs, "99", strings.Repeat(")", 20_000))
	file := "%PDF-1.5\n" + packed(pairs...) + tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj\n4 0 obj <</Type/Page" +
		"/Annots[" + refs.String() + "]>> endobj\n5 0 obj <</Subtype/Text/Contents(lost)>> endobj trailer <</Root 1 0 R>>\n"
	f, err := object.OpenWithin(t.Context(), strings.NewReader(file), int64(len(file)), small, small)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Notes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Notes) == 0 && !found.Partly {
		t.Error("the comment is missing, and nothing says so")
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(tree + "3 0 obj <</Type/Page/Annots[5 0 R]>> endobj 5 0 obj<</Subtype/Text/Contents(\\(a\\)\\041)>>endobj"))
	f.Add([]byte(packed("5", "<</Type /Filespec /EF <</F 6 0 R>> /A [[[<41>]]] /B#20C 1.5 >>")))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, n := range scan(t, string(content)).Notes {
			if n.Page < 1 || n.Text == "" {
				t.Errorf("%+v", n)
			}
		}
	})
}
