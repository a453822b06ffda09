package mutants

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/tiff"
)

// pictures are images with a line of text, one in each format that there is an encoder for.
func pictures() (seeds []Seed, err error) {
	gray := image.NewGray(image.Rect(0, 0, 160, 40))
	for i := range gray.Pix {
		gray.Pix[i] = 0xFF
	}
	drawer := font.Drawer{Dst: gray, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(10, 25)}
	drawer.DrawString("The sluice is closed")
	colored := image.NewPaletted(gray.Rect, color.Palette{color.White, color.Black})
	for i, v := range gray.Pix {
		if v < 0x80 {
			colored.Pix[i] = 1
		}
	}
	for name, encode := range map[string]func(io.Writer) error{
		"a.png":       func(w io.Writer) error { return png.Encode(w, gray) },
		"palette.png": func(w io.Writer) error { return png.Encode(w, colored) },
		"a.jpg":       func(w io.Writer) error { return jpeg.Encode(w, gray, nil) },
		"a.gif":       func(w io.Writer) error { return gif.Encode(w, colored, nil) },
		"a.bmp":       func(w io.Writer) error { return bmp.Encode(w, gray) },
		"a.tiff":      func(w io.Writer) error { return tiff.Encode(w, gray, nil) },
		"compressed.tiff": func(w io.Writer) error {
			return tiff.Encode(w, gray,
				&tiff.Options{Compression: tiff.Deflate})
		},
	} {
		var out bytes.Buffer
		if err := encode(&out); err != nil {
			return nil, err
		}
		seeds = append(seeds, Seed{name, out.Bytes(), nil})
	}
	return seeds, nil
}
