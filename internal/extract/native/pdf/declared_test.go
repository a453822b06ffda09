package pdf

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// fileOf returns a file of one page with an information dictionary. head comes before the first object.
func fileOf(head, about, pages string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.7\n")
	objects := []string{
		head, "<</Type/Catalog/Pages 3 0 R>>", pages, "<</Type/Page/Parent 3 0 R/MediaBox[0 0 200 100]>>", "<<" + about + ">>",
		"(Elsewhere)",
	}
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%s", len(objects)+1, &table)
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 2 0 R/Info 5 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, at)
	return b.String()
}

const onePage = "<</Type/Pages/Count 1/Kids[4 0 R]>>"

// What a file declares is what pdfinfo prints of it, or pdfinfo has to be asked.
func TestDeclaredIsWhatPdfinfoPrints(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file string
		asks bool // pdfinfo
	}{
		"nothing":       {fileOf("null", "", onePage), false},
		"words":         {fileOf("null", "/Title(A  title: with \\(brackets\\) )/Author()/Creator<41 42>/Keywords 7", onePage), false},
		"elsewhere":     {fileOf("null", "/Subject 6 0 R", onePage), false},
		"document's":    {fileOf("null", "/Title("+bytesFrom(0x80, 0x9E)+bytesFrom(0xA0, 0xAC)+bytesFrom(0xAE, 0xFF)+")", onePage), false},
		"UTF-16":        {fileOf("null", "/Title<FEFF0047007200FC00DF0065D83DDE00FB03>", onePage), false},
		"low surrogate": {fileOf("null", "/Title<FEFFDE000041>", onePage), true},
		"half":          {fileOf("null", "/Title<FEFF004100>", onePage), true},
		"language":      {fileOf("null", "/Title<FEFF001B0065006E001B0041>", onePage), true},
		"little end":    {fileOf("null", "/Title<FFFE4100>", onePage), true},
		"UTF-8":         {fileOf("null", "/Title<EFBBBF41>", onePage), true},
		"lines":         {fileOf("null", "/Title(One\\nAuthor: nobody)", onePage), true},
		"no meaning":    {fileOf("null", "/Title(\\237)", onePage), true},
		"long":          {fileOf("null", "/Title("+strings.Repeat("x", maxDeclared+1)+")", onePage), true},
		"dates":         {fileOf("null", "/CreationDate(D:20240229121314+02'00')/ModDate(D:19991231235959-03'30')", onePage), false},
		"dates of UTC":  {fileOf("null", "/CreationDate(D:20240229121314Z)/ModDate(D:20240229121314Z00'00')", onePage), false},
		"LibreOffice's": {fileOf("null", "/CreationDate(D:20240229121314Z')", onePage), false},
		"no zone":       {fileOf("null", "/CreationDate(D:20240229121314)/ModDate(D:20240229121314+00'00)", onePage), false},
		"no month 13":   {fileOf("null", "/CreationDate(D:20241399999999+99'99')", onePage), false},
		"first year":    {fileOf("null", "/CreationDate(D:19300101120000Z)", onePage), false},
		"early year":    {fileOf("null", "/CreationDate(D:19291231235959Z)", onePage), true},
		"no year":       {fileOf("null", "/CreationDate(D:00000000000000-00'00')", onePage), true},
		"a day":         {fileOf("null", "/CreationDate(D:20240229)", onePage), true},
		"no date":       {fileOf("null", "/ModDate(yesterday)", onePage), true},
		"count":         {fileOf("null", "", strings.Replace(onePage, "1", "5", 1)), false},
		"large count":   {fileOf("null", "", strings.Replace(onePage, "1", "7", 1)), true},
		"no count":      {fileOf("null", "", strings.Replace(onePage, "1", "0", 1)), true},
		"broken count":  {fileOf("null", "", strings.Replace(onePage, "1", "1.5", 1)), true},
		"no kids":       {fileOf("null", "", "<</Type/Pages/Count 1>>"), true},
		"linear":        {fileOf("<</Linearized 1/N 1/L 0>>", "", onePage), false},
		"linear, other": {fileOf("<</Linearized 1/N 2/L 0>>", "", onePage), true},
		"no table":      {strings.Replace(fileOf("null", "", onePage), "startxref", "startyref", 1), true},
		"encrypted":     {strings.Replace(fileOf("null", "", onePage), "/Root", "/Encrypt 6 0 R/Root", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.pdf")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			p := newPoppler(extract.Source{}, path, extract.DefaultLimits)
			defer p.drawn.close()
			got := p.drawn.declared(t.Context())
			if (got == nil) != tt.asks {
				t.Fatalf("declares %q", got)
			}
			if tt.asks {
				return
			}
			printed, err := p.pdfinfo(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want := printed.document()
			if info := got.document(); info.Title != want.Title || info.Pages != want.Pages ||
				!maps.Equal(info.Properties, want.Properties) {
				t.Errorf("declares %+v, pdfinfo prints %+v", info, want)
			}
		})
	}
}

// bytesFrom returns the bytes from first to last, escaped.
func bytesFrom(first, last int) string {
	var b strings.Builder
	for c := first; c <= last; c++ {
		fmt.Fprintf(&b, "\\%03o", c)
	}
	return b.String()
}
