// Package ocrtest makes scans for tests: PDF pages of text or of an image, and images of such pages. It skips a
// test on a machine without poppler or tesseract.
package ocrtest

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Page is a page of a PDF file: lines of text, an image that fills it, or nothing.
type Page struct {
	Lines  []string
	Hidden bool // the lines are not drawn, as over a scan
	// HiddenLines follow the lines and are not drawn.
	HiddenLines []string
	Image       *image.Gray
	Points      [2]float64 // its size; zero: A4, or the image's at DPI
}

// DPI is the resolution of the images that are made.
const DPI = 200

// Need skips the test when a program is not installed.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed; on Debian and Ubuntu: apt-get install poppler-utils tesseract-ocr", p)
		}
	}
}

// Scan returns an image of a page with the lines, rotated clockwise.
func Scan(t testing.TB, rotation ocr.Rotation, lines ...string) ocr.Image {
	t.Helper()
	Need(t, "pdftoppm")
	out, err := exec.CommandContext(t.Context(), "pdftoppm", "-gray", "-r", fmt.Sprint(DPI),
		Write(t, Page{Lines: lines})).Output()
	if err != nil {
		t.Fatal(err)
	}
	img, err := ocr.ReadPGM(bytes.NewReader(out), 100<<20)
	if err != nil {
		t.Fatal(err)
	}
	return rotation.Of(ocr.Image{Gray: img, DPI: DPI})
}

// Blank returns an image of white paper.
func Blank() ocr.Image {
	img := image.NewGray(image.Rect(0, 0, 595*DPI/72, 842*DPI/72))
	img.Pix = bytes.Repeat([]byte{255}, len(img.Pix))
	return ocr.Image{Gray: img, DPI: DPI}
}

// Write writes a PDF file into a folder of the test and returns its path.
func Write(t testing.TB, pages ...Page) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.pdf")
	if err := os.WriteFile(path, file(pages), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// file returns the PDF: catalog, page tree, font, then three objects per page: page, contents, image.
func file(pages []Page) []byte {
	const fixed, each = 3, 3
	var b bytes.Buffer
	var offsets []int
	object := func(dictionary string, stream []byte) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(offsets))
		if stream == nil {
			fmt.Fprintf(&b, "<< %s >>\nendobj\n", dictionary)
			return
		}
		fmt.Fprintf(&b, "<< %s /Length %d >>\nstream\n%s\nendstream\nendobj\n", dictionary, len(stream), stream)
	}
	b.WriteString("%PDF-1.4\n%\xE2\xE3\xCF\xD3\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", fixed+1+each*i)
	}
	object("/Type /Catalog /Pages 2 0 R", nil)
	object(fmt.Sprintf("/Type /Pages /Count %d /Kids [%s]", len(pages), kids.String()), nil)
	object("/Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont /Helvetica", nil)
	for i, p := range pages {
		at := fixed + 1 + each*i
		size := p.size()
		object(fmt.Sprintf("/Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents %d 0 R /Resources << /Font << "+
			"/F 3 0 R >> /XObject << /I %d 0 R >> >>",
			size[0], size[1], at+1, at+2), nil)
		object("", p.contents(size))
		if p.Image == nil {
			object("", []byte{})
			continue
		}
		object(fmt.Sprintf("/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter "+
			"/FlateDecode /Width %d /Height %d",
			p.Image.Rect.Dx(), p.Image.Rect.Dy()), deflate(p.Image.Pix))
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return b.Bytes()
}

func (p Page) size() [2]float64 {
	switch {
	case p.Points != [2]float64{}:
		return p.Points
	case p.Image != nil:
		return [2]float64{float64(p.Image.Rect.Dx()) * 72 / DPI, float64(p.Image.Rect.Dy()) * 72 / DPI}
	}
	return [2]float64{595, 842}
}

func (p Page) contents(size [2]float64) []byte {
	var b bytes.Buffer
	if p.Image != nil {
		fmt.Fprintf(&b, "q %g 0 0 %g 0 0 cm /I Do Q\n", size[0], size[1])
	}
	for i, line := range append(slices.Clone(p.Lines), p.HiddenLines...) {
		line = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(line)
		mode := 0
		if p.Hidden || i >= len(p.Lines) {
			mode = 3
		}
		fmt.Fprintf(&b, "BT %d Tr /F 14 Tf 1 0 0 1 72 %g Tm (%s) Tj ET\n", mode, size[1]-90-float64(20*i), line)
	}
	return b.Bytes()
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed) // the level is valid
	_, _ = w.Write(data)                            // to memory
	_ = w.Close()
	return b.Bytes()
}
