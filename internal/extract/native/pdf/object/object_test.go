package object_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// drawn is the content of the page in all files here.
const drawn = "1 w 10 20 m 150 20 l S"

// plain is a file without a table of its objects.
const plain = `%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Count 1 /Kids [3 0 R] /MediaBox [0 0 200 100] /Rotate -90 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /Contents [4 0 R] >>
endobj
4 0 obj
<< /Length 5 0 R >>
stream
` + drawn + `
endstream
endobj
5 0 obj
22
endobj
`

// withTable adds the table of the objects to a file.
func withTable(body string) string {
	var offsets []int
	for n := 1; ; n++ {
		at := strings.Index(body, fmt.Sprintf("%d 0 obj\n", n))
		if at < 0 {
			break
		}
		offsets = append(offsets, at)
	}
	var b strings.Builder
	b.WriteString(body)
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, len(body))
	return b.String()
}

// content opens a file and returns its first page and what it draws.
func content(ctx context.Context, file string) (*object.Page, string, error) {
	f, err := object.Open(ctx, strings.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, "", err
	}
	p, ok := f.Pages()()
	if !ok {
		return nil, "", fmt.Errorf("no page")
	}
	var all []byte
	for _, s := range f.Contents(p) {
		r, err := f.Reader(s)
		if err != nil {
			return p, "", err
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return p, "", err
		}
		all = append(all, data...)
	}
	return p, string(all), nil
}

func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"table":           withTable(plain),
		"no table":        plain,
		"wrong table":     strings.Replace(withTable(plain), "startxref\n", "startxref\n1", 1),
		"text before it":  "mail header\n" + withTable(plain),
		"no length":       withTable(strings.Replace(plain, "/Length 5 0 R", "/Size 1", 1)),
		"no end of lines": strings.ReplaceAll(plain, "\n", "\r"),
	}
	paths, err := filepath.Glob("testdata/*.pdf") // encrypted by qpdf, for the empty password; most with packed objects
	if err != nil || len(paths) < 6 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(data)
	}
	for name, file := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, text, err := content(t.Context(), file)
			if err != nil || !strings.HasPrefix(text, drawn) {
				t.Fatalf("it draws %q, %v", text, err)
			}
			if want := [4]float64{0, 0, 200, 100}; p.Box != want {
				t.Errorf("the page is %v, want %v", p.Box, want)
			}
			if !strings.HasSuffix(name, ".pdf") && p.Rotate != 270 {
				t.Errorf("the page is turned by %d", p.Rotate)
			}
		})
	}
}

// What a file says of itself may be a lie: none takes long, much memory, or panics.
func TestLyingFiles(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"empty":           "",
		"not a PDF":       strings.Repeat("obj ", 1000),
		"deep array":      withTable(strings.Replace(plain, "[4 0 R]", strings.Repeat("[", 1_000_000), 1)),
		"deep dictionary": withTable(strings.Replace(plain, "[4 0 R]", strings.Repeat("<</A ", 1_000_000), 1)),
		"length of self":  withTable(strings.Replace(plain, "/Length 5 0 R", "/Length 4 0 R", 1)),
		"pages of self":   withTable(strings.Replace(plain, "/Kids [3 0 R]", "/Kids [2 0 R 2 0 R]", 1)),
		"huge table":      strings.Replace(withTable(plain), "0 6\n", "0 999999999\n", 1),
		"table of itself": strings.Replace(withTable(plain), "/Root", fmt.Sprintf("/Prev %d /Root", len(plain)), 1),
		"filters": withTable(strings.Replace(plain, "/Length 5 0 R",
			"/Length 5 0 R /Filter ["+strings.Repeat("/ASCIIHexDecode ", 1000)+"]", 1)),
		"predictor": withTable(strings.Replace(plain, "/Length 5 0 R",
			"/Length 5 0 R /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 1000000000 >>", 1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, text, err := content(t.Context(), file)
			if err == nil && len(text) > 1000 {
				t.Errorf("it draws %d bytes", len(text))
			}
		})
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]object.Object{
		"12":                          12.0,
		"-.5":                         -0.5,
		"+1.25":                       1.25,
		"--7":                         -7.0,
		"12-34":                       12.0,
		"true":                        true,
		"null":                        nil,
		"% a comment\n/A#20B":         object.Name("A B"),
		`(a\(b\)(c)\n\101\7\` + "\n)": object.String("a(b)(c)\nA\a"),
		"<48 656C6c6F2>":              object.String("Hello "),
		"[1 /B (c) [2]]":              object.Array{1.0, object.Name("B"), object.String("c"), object.Array{2.0}},
		"<< /A 1 /B << /C true >> >>": object.Dict{"A": 1.0, "B": object.Dict{"C": true}},
		"BT":                          object.Operator("BT"),
	} {
		got, err := object.NewLexer(strings.NewReader(in)).Next()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v: %v", in, got, want, err)
		}
	}
}

// An image within a content stream is skipped, also where its bytes look like its end.
func TestSkipImage(t *testing.T) {
	t.Parallel()
	l := object.NewLexer(strings.NewReader("BI /W 1 /H 1 ID \x00 EI\xFF\x80 EI Q\x01\xFE\nEI\nQ"))
	if op, err := l.Next(); err != nil || op != object.Operator("BI") {
		t.Fatal(op, err)
	}
	if err := l.SkipImage(); err != nil {
		t.Fatal(err)
	}
	if op, err := l.Next(); err != nil || op != object.Operator("Q") {
		t.Errorf("%v follows the image, %v", op, err)
	}
}

// TestLargeObject: an object is bounded in bytes, not only in the number of its items.
func TestLargeObject(t *testing.T) {
	t.Parallel()
	item := "(" + strings.Repeat("a", 64<<10) + ")"
	if _, err := object.NewLexer(strings.NewReader("[" + strings.Repeat(item, 400) + "]")).Next(); err == nil {
		t.Error("25 MB are one object")
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(withTable(plain)))
	f.Add([]byte(plain))
	paths, _ := filepath.Glob("testdata/*.pdf")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := object.Open(t.Context(), bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		next := file.Pages()
		for range 20 {
			p, ok := next()
			if !ok {
				break
			}
			for _, s := range file.Contents(p) {
				if r, err := file.Reader(s); err == nil {
					_, _ = io.CopyN(io.Discard, r, 1<<20) // only a panic counts
				}
			}
		}
	})
}
