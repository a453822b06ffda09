package pdf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// glyphProgram prints a line on each page, with the range that it was asked for. It dies within page 9.
const glyphProgram = `#!/bin/sh
while [ $# -gt 1 ]; do
	case $1 in -f) first=$2 ;; -l) last=$2 ;; esac
	shift
done
at=$first
while [ $at -le $last ]; do
	printf '<page number="%d"><text top="3" left="3" width="3" height="3">%d-%d</text>' $at $first $last
	[ $at -ne 9 ] || exit 1
	printf '</page>'
	at=$((at + 1))
done
`

// A page that needs its glyphs is read with those after it, and more are read at once the more were needed. A page that
// the program dies on spoils no other.
func TestGlyphsOfManyPages(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "pdftohtml"), []byte(glyphProgram), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	p := newPoppler(extract.Source{}, filepath.Join(bin, "x.pdf"), extract.DefaultLimits)
	g := &glyphPages{last: 40}
	var got []string
	for _, number := range []int{1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 30, 31, 32, 40} {
		lines, ok := p.glyphsOf(t.Context(), number, g)
		if !ok || len(lines) != 1 {
			t.Fatalf("page %d: %v %v", number, lines, ok)
		}
		got = append(got, fmt.Sprintf("%d:%s", number, lines[0].text))
	}
	want := strings.Fields("1:1-2 2:1-2 3:3-6 4:3-6 6:3-6 7:7-14 8:7-14 9:9-24 10:10-25 11:10-25 30:30-31 31:30-31 32:32-35 40:40-40")
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReadGlyphPages(t *testing.T) {
	t.Parallel()
	line := `<text top="30" left="3" width="6" height="9">` + strings.Repeat("x", 1000) + "</text>"
	pages := func(first, n, lines int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `<page number="%d">%s</page>`, first+i, strings.Repeat(line, lines))
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		output     string
		whole, cut int // pages, lines
	}{
		"whole":                      {pages(3, 2, 5), 2, 0},
		"the first is cut":           {`<page number="3">` + line + line + `<text top="3"`, 0, 2},
		"a later one is cut":         {pages(3, 1, 5) + `<page number="4">` + line, 1, 0},
		"more than is read of many":  {pages(3, 9, 1000), 4, 0},
		"all is read of one":         {pages(3, 1, 9000), 1, 0},
		"one after too large a page": {pages(3, 2, 9000), 1, 0},
	} {
		whole, cut, err := readGlyphPages(strings.NewReader(tt.output), 3)
		if err != nil || len(whole) != tt.whole || len(cut) != tt.cut {
			t.Errorf("%s: %d pages, %d lines, %v", name, len(whole), len(cut), err)
		}
		if tt.whole > 0 && len(whole[3]) == 0 {
			t.Errorf("%s: nothing on the first page", name)
		}
	}
	many, _, err := readGlyphPages(strings.NewReader(`<page number="3">`+strings.Repeat("<text></text>", maxWords+9)+"</page>"), 3)
	if err != nil || len(many[3]) != maxWords {
		t.Errorf("%d lines of a page, %v", len(many[3]), err)
	}
}
