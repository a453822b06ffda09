package pageimage

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decodes the first frame
	_ "image/jpeg"
	_ "image/png"
	"io"
	"math"
	"runtime/debug"

	_ "golang.org/x/image/bmp" // registers a decoder for image.Decode
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff" // decodes one page, the first directory
	_ "golang.org/x/image/webp"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

const (
	// smallSide: images whose shorter side has fewer pixels are screenshots or small scans, whose letters are
	// too small for engines; they are doubled.
	smallSide = 1000
	// band is how many rows are drawn between two checks of the context.
	band = 64
	// pageInches is the assumed longer side of a page, for the resolution, which images don't declare reliably.
	pageInches = 11.7
)

// Size limits the size of an image.
type Size struct {
	Pixels int // zero: 20 million, A3 at 300 dpi
	Side   int // of the longest side; zero: unlimited
}

func (s Size) pixels() int {
	if s.Pixels <= 0 {
		return 20_000_000
	}
	return s.Pixels
}

// scale returns the factor that makes an image of w × h fit, at most 1.
func (s Size) scale(w, h float64) float64 {
	scale := min(1, math.Sqrt(float64(s.pixels())/(w*h)))
	if s.Side > 0 {
		scale = min(scale, float64(s.Side)/max(w, h))
	}
	return scale
}

func (p page) reader(in io.ReaderAt) io.Reader {
	at := view{in, p}
	// TIFF's decoder uses the ReaderAt, the others the Reader
	return struct {
		io.Reader
		io.ReaderAt
	}{bufio.NewReaderSize(io.NewSectionReader(at, 0, math.MaxInt64), 64<<10), at}
}

// decode returns the page in gray on white, upright.
func (p page) decode(in *input, size Size) (ocr.Image, error) {
	if j, ok := p.jpeg(in); ok {
		return j.decode(size)
	}
	config, format, err := image.DecodeConfig(p.reader(in))
	if err != nil {
		return ocr.Image{}, fmt.Errorf("read the image's header: %w", err)
	}
	if err := checkPixels(config); err != nil {
		return ocr.Image{}, err
	}
	f := file{view{in, p}, in.size, format, config, p.order}
	need, most := f.cost(p, size), int64(mostDecoding)
	if in.pool != nil {
		most = in.pool.Largest(child.Step)
	}
	if err := f.checkCost(need, most); err != nil {
		return ocr.Image{}, err
	}
	_, release, err := in.pool.Take(in.ctx, child.Step, need)
	if err != nil {
		return ocr.Image{}, err
	}
	defer release()
	if need >= muchMemory {
		defer debug.FreeOSMemory() // before the next one takes as much
	}
	gray, err := p.gray(in)
	if err != nil {
		return ocr.Image{}, err
	}
	img := oriented(resized(gray, size), p.orientation)
	img.DPI = min(max(int(float64(max(img.Rect.Dx(), img.Rect.Dy()))/pageInches), 70), 600)
	return img, nil
}

// muchMemory is the size in bytes from which the memory of decoding is returned to the system at once. This
// takes about 10 ms.
const muchMemory = 64 << 20

// gray decodes the page. The decoded colors are garbage when it returns.
func (p page) gray(in *input) (*image.Gray, error) {
	decoded, _, err := image.Decode(p.reader(in))
	if err != nil {
		return nil, fmt.Errorf("decode the image: %w", err)
	}
	return toGray(in.ctx, decoded)
}

// toGray draws the image on white, in bands so that ctx can stop it.
func toGray(ctx context.Context, from image.Image) (*image.Gray, error) {
	size := from.Bounds()
	out := image.NewGray(image.Rect(0, 0, size.Dx(), size.Dy()))
	for y := 0; y < size.Dy(); y += band {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rows := image.Rect(0, y, size.Dx(), min(y+band, size.Dy()))
		if luma, stride := luma(from); luma != nil {
			for row := rows.Min.Y; row < rows.Max.Y; row++ {
				copy(out.Pix[row*out.Stride:], luma[row*stride:row*stride+size.Dx()])
			}
			continue
		}
		draw.Draw(out, rows, image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(out, rows, from, size.Min.Add(image.Pt(0, y)), draw.Over)
	}
	return out, nil
}

// luma returns the gray channel of an image that has one, row by row, or nil.
func luma(img image.Image) (pix []uint8, stride int) {
	switch img := img.(type) {
	case *image.Gray:
		return img.Pix, img.Stride
	case *image.YCbCr:
		return img.Y[img.YOffset(img.Rect.Min.X, img.Rect.Min.Y):], img.YStride
	}
	return nil, 0
}

// resized makes a large image fit and a small one legible.
func resized(img *image.Gray, size Size) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	scale := size.scale(float64(w), float64(h))
	if small := min(w, h) < smallSide && 4*w*h <= size.pixels(); scale == 1 && small &&
		(size.Side == 0 || 2*max(w, h) <= size.Side) {
		scale = 2
	}
	if scale == 1 {
		return img
	}
	return Scaled(img, scale)
}

// Scaled scales an image.
func Scaled(img *image.Gray, scale float64) *image.Gray {
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	out := image.NewGray(image.Rect(0, 0, max(int(w*scale), 1), max(int(h*scale), 1)))
	draw.ApproxBiLinear.Scale(out, out.Rect, img, img.Rect, draw.Src, nil)
	return out
}

// oriented applies the EXIF orientation (CIPA DC-008, 4.6.4: 1 to 8).
func oriented(img *image.Gray, orientation int) ocr.Image {
	switch orientation {
	case 2, 4, 5, 7: // mirrored, then rotated
		for y := range img.Rect.Dy() {
			row := img.Pix[y*img.Stride : y*img.Stride+img.Rect.Dx()]
			for i, j := 0, len(row)-1; i < j; i, j = i+1, j-1 {
				row[i], row[j] = row[j], row[i]
			}
		}
	}
	rotation := map[int]ocr.Rotation{3: 2, 4: 2, 5: 3, 6: 1, 7: 1, 8: 3}[orientation]
	return rotation.Of(ocr.Image{Gray: img})
}
