package ocr

import (
	"fmt"
	"image"
	"io"
)

// Rotation is a clockwise rotation by quarter turns: 0 to 3.
type Rotation int

// Degrees returns for example 90.
func (r Rotation) Degrees() int { return int(r) * 90 }

// Of returns the rotated image, or the image itself for 0.
func (r Rotation) Of(img Image) Image {
	if r == 0 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if r != 2 {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewGray(size)
	for y := range h {
		row := img.Pix[y*img.Stride : y*img.Stride+w]
		at, step := y*out.Stride+0, 1
		switch r {
		case 1: // x, y maps to h-1-y, x
			at, step = h-1-y, out.Stride
		case 2: // to w-1-x, h-1-y
			at, step = (h-1-y)*out.Stride+w-1, -1
		case 3: // to y, w-1-x
			at, step = (w-1)*out.Stride+y, -out.Stride
		}
		for _, v := range row {
			out.Pix[at] = v
			at += step
		}
	}
	return Image{Gray: out, DPI: img.DPI}
}

// rotatedRows is how many rows of a rotated image are made at once: neighbors in a row are far apart in the other image.
const rotatedRows = 64

// WritePGM writes the rotated image as WritePGM does, without a copy of it in memory.
func (r Rotation) WritePGM(w io.Writer, img *image.Gray) error {
	if r == 0 {
		return WritePGM(w, img)
	}
	width, height := img.Rect.Dx(), img.Rect.Dy()
	if r != 2 {
		width, height = height, width
	}
	if err := writeHeader(w, width, height); err != nil {
		return err
	}
	rows := make([]byte, rotatedRows*width)
	for top := 0; top < height; top += rotatedRows {
		n := min(rotatedRows, height-top)
		r.rows(rows, img, top, n)
		if _, err := w.Write(rows[:n*width]); err != nil {
			return fmt.Errorf("write an image: %w", err)
		}
	}
	return nil
}

// rows makes n rows of the rotated image, from top on.
func (r Rotation) rows(out []byte, img *image.Gray, top, n int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if r == 2 {
		for y := range n {
			for x, v := range img.Pix[(h-1-top-y)*img.Stride:][:w] {
				out[y*w+w-1-x] = v
			}
		}
		return
	}
	for y := range h { // a column of the rotated image
		row := img.Pix[y*img.Stride:][:w]
		for i := range n {
			if r == 1 {
				out[i*h+h-1-y] = row[top+i]
			} else {
				out[i*h+y] = row[w-1-top-i]
			}
		}
	}
}

// Upright returns the rotation of a reading's image that makes its lines run across: that before it was read, or one for
// lines that an engine read up or down, whose words are higher than wide.
func (p Page) Upright(img Image) Rotation {
	var wide, high int
	down := 0.0
	for _, paragraph := range p.Paragraphs {
		for _, line := range paragraph {
			down += line[len(line)-1].Box.Top - line[0].Box.Top
			for _, w := range line {
				switch n := Letters(w.Text); {
				case n < 3: // may be as high as wide
				case (w.Box.Bottom-w.Box.Top)*float64(img.Rect.Dy()) > (w.Box.Right-w.Box.Left)*float64(img.Rect.Dx()):
					high += n
				default:
					wide += n
				}
			}
		}
	}
	switch {
	case high <= wide:
		return p.Turned
	case down > 0:
		return 3
	case down < 0:
		return 1
	}
	return p.Turned
}

// Undo maps a box on the rotated image to the original image.
func (r Rotation) Undo(b Box) Box {
	switch r {
	case 1:
		return Box{Left: b.Top, Top: 1 - b.Right, Right: b.Bottom, Bottom: 1 - b.Left}
	case 2:
		return Box{Left: 1 - b.Right, Top: 1 - b.Bottom, Right: 1 - b.Left, Bottom: 1 - b.Top}
	case 3:
		return Box{Left: 1 - b.Bottom, Top: b.Left, Right: 1 - b.Top, Bottom: b.Right}
	}
	return b
}
