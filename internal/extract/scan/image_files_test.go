package scan_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"testing"
)

// tiffFile is a TIFF of gray pages without compression; with loop, the last directory links to the first.
func tiffFile(loop bool, orientation int, pages ...*image.Gray) []byte {
	b := []byte("II*\x00\x00\x00\x00\x00")
	link := 4 // offset of the link to the next directory
	for _, p := range pages {
		pixels := len(b)
		b = append(b, p.Pix...)
		binary.LittleEndian.PutUint32(b[link:], uint32(len(b)))
		entries := [][2]int{
			{256, p.Rect.Dx()},
			{257, p.Rect.Dy()},
			{258, 8},
			{259, 1},
			{262, 1},
			{273, pixels},
			{274, orientation},
			{277, 1},
			{278, p.Rect.Dy()},
			{279, len(p.Pix)},
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
		for _, e := range entries {
			b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
			b = binary.LittleEndian.AppendUint16(b, 4)
			b = binary.LittleEndian.AppendUint32(b, 1)
			b = binary.LittleEndian.AppendUint32(b, uint32(e[1]))
		}
		link = len(b)
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	if loop {
		copy(b[link:], b[4:8])
	}
	return b
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// corner is a white image with a black rectangle at its top left.
func corner() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 1200, 1600))
	img.Pix = bytes.Repeat([]byte{255}, len(img.Pix))
	for y := range 100 {
		clear(img.Pix[y*img.Stride:][:300])
	}
	return img
}

func pngOf(t testing.TB, img image.Image) []byte {
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

// withEXIF adds an orientation to a JPEG.
func withEXIF(jpg []byte, orientation byte) []byte {
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"),
		orientation, 0, 0, 0, 0, 0, 0)
	segment := append([]byte{0xFF, 0xD8, 0xFF, 0xE1, 0, byte(len(exif) + 2)}, exif...)
	return append(segment, jpg[2:]...)
}

// top is the upper fifth of a page: images of few pixels are soon encoded.
func top(page *image.Gray) *image.Gray {
	bounds := page.Rect
	bounds.Max.Y /= 5
	return &image.Gray{Pix: page.Pix[:bounds.Max.Y*page.Stride], Stride: page.Stride, Rect: bounds}
}

// tiffBomb declares ten thousand million pixels.
func tiffBomb() []byte {
	b := tiffFile(false, 1, image.NewGray(image.Rect(0, 0, 10, 10)))
	for i := 0; i+4 <= len(b); i++ {
		if tag := binary.LittleEndian.Uint16(b[i:]); (tag == 256 || tag == 257) && i+12 <= len(b) &&
			binary.LittleEndian.Uint16(b[i+2:]) == 4 {
			binary.LittleEndian.PutUint32(b[i+8:], 100_000)
		}
	}
	return b
}

// grays are the shades of an image.Gray as a palette, so that gif.Encode need not choose one.
func grays() color.Palette {
	var p color.Palette
	for y := range 256 {
		p = append(p, color.Gray{Y: uint8(y)})
	}
	return p
}
