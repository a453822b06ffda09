package ocr

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"io"
)

// WritePGM writes an image as a binary portable graymap (netpbm's P5). It needs no compression and no library,
// and all imaging programs read it.
func WritePGM(w io.Writer, img *image.Gray) error {
	width, height := img.Rect.Dx(), img.Rect.Dy()
	if err := writeHeader(w, width, height); err != nil {
		return err
	}
	for y := range height {
		if _, err := w.Write(img.Pix[y*img.Stride : y*img.Stride+width]); err != nil {
			return fmt.Errorf("write an image: %w", err)
		}
	}
	return nil
}

func writeHeader(w io.Writer, width, height int) error {
	if _, err := fmt.Fprintf(w, "P5\n%d %d\n255\n", width, height); err != nil {
		return fmt.Errorf("write an image: %w", err)
	}
	return nil
}

// ErrNoImage is the error of ReadPGM for an empty input.
var ErrNoImage = errors.New("there is no image")

// ReadPGM reads a binary portable graymap of 8 bits per pixel and at most maxPixels pixels, which it checks
// before it allocates memory.
func ReadPGM(r io.Reader, maxPixels int) (*image.Gray, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		return nil, ErrNoImage
	}
	var width, height, depth int
	var end byte
	if _, err := fmt.Fscanf(in, "P5\n%d %d\n%d%c", &width, &height, &depth, &end); err != nil {
		return nil, fmt.Errorf("read an image: its header is not that of a graymap: %w", err)
	}
	if width < 1 || height < 1 || depth != 255 {
		return nil, fmt.Errorf("read an image: %d × %d pixels of depth %d", width, height, depth)
	}
	if width > maxPixels/height {
		return nil, fmt.Errorf("read an image: %d × %d pixels are more than %d", width, height, maxPixels)
	}
	img := image.NewGray(image.Rect(0, 0, width, height))
	if _, err := io.ReadFull(in, img.Pix); err != nil {
		return nil, fmt.Errorf("read an image: it ends early: %w", err)
	}
	return img, nil
}
