package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	_ "image/gif" // decoder
	_ "image/jpeg"
	"image/png"
	"io"

	"codeberg.org/go-pdf/fpdf"
	_ "golang.org/x/image/bmp"  // decoder
	_ "golang.org/x/image/tiff" // decoder
	_ "golang.org/x/image/webp" // decoder

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/pdf/tagged"
)

// Limits of a picture that is decoded: its pixels, and its bytes.
const (
	maxPixels = 24 << 20
	maxFile   = 64 << 20
)

// picture is a picture that is in the file; nil: it can't be drawn.
type picture struct{ name string }

// picture draws a picture, or a box with its description.
func (w *writer) picture(e *deck.Element, at area, b *deck.Box, of *tagged.Element) error {
	key := e.Picture.Media
	known, seen := w.images[key]
	if !seen {
		var err error
		if known, err = w.load(key); err != nil {
			return err
		}
		w.images[key] = known
	}
	w.tag(of)
	p := w.pdf
	if known == nil {
		w.fill("light2", "light2")
		p.Rect(at.x, at.y, at.w, at.h, "F")
		text := &deck.Element{Text: deck.Lines(e.Alt)}
		text.Text.Anchor = deck.AnchorMiddle
		text.Text.Styles = []deck.Style{{Size: 12, Align: deck.AlignCenter}}
		w.text(&deck.Layout{}, text, at, newFlow(of, true))
		return nil
	}
	if b.FlipH || b.FlipV {
		p.TransformBegin()
		defer p.TransformEnd()
		if b.FlipH {
			p.TransformMirrorHorizontal(at.x + at.w/2)
		}
		if b.FlipV {
			p.TransformMirrorVertical(at.y + at.h/2)
		}
	}
	shown := at
	if c := e.Picture.Crop; c != nil && c.Left+c.Right < 1 && c.Top+c.Bottom < 1 {
		p.ClipRect(at.x, at.y, at.w, at.h, false)
		defer p.ClipEnd()
		shown.w, shown.h = at.w/(1-c.Left-c.Right), at.h/(1-c.Top-c.Bottom)
		shown.x, shown.y = at.x-shown.w*c.Left, at.y-shown.h*c.Top
	}
	p.ImageOptions(known.name, shown.x, shown.y, shown.w, shown.h, false, fpdf.ImageOptions{}, 0, "")
	return nil
}

// load puts a picture into the file; nil: it is of a kind that can't be.
func (w *writer) load(key string) (*picture, error) {
	in, err := w.options.Media(key)
	if err != nil {
		return nil, fmt.Errorf("open a picture of the deck: %w", err)
	}
	defer func() { _ = in.Close() }() // read-only
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read a picture of the deck: %w", err)
	}
	about, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || len(data) > maxFile || about.Width <= 0 || about.Height <= 0 || about.Width > maxPixels/about.Height {
		w.warn("pictures of the type %s, or of more than %d megapixels, are drawn as boxes with their descriptions",
			w.deck.Media[key].Type, maxPixels>>20)
		return nil, nil
	}
	if kind != "jpeg" {
		if data, err = plainPNG(data); err != nil {
			w.warn("damaged pictures are drawn as boxes with their descriptions")
			return nil, nil
		}
		kind = "png"
	}
	w.pdf.RegisterImageOptionsReader(key, fpdf.ImageOptions{ImageType: kind}, bytes.NewReader(data))
	if w.pdf.Err() { // the library refuses some JPEGs
		w.pdf.ClearError()
		w.warn("damaged pictures are drawn as boxes with their descriptions")
		return nil, nil
	}
	return &picture{key}, nil
}

// plainPNG decodes a picture, and encodes it as the library reads it: 8 bits, not interlaced.
func plainPNG(data []byte) ([]byte, error) {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain := image.NewNRGBA(img.Bounds())
	draw.Draw(plain, plain.Bounds(), img, img.Bounds().Min, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, plain)
	return out.Bytes(), err
}
