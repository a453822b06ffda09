package preview

import (
	"image"
	"image/color"
	"image/draw"

	xdraw "golang.org/x/image/draw"
)

const (
	thumb      = 320 // pixels of a slide's width
	gap        = 16
	maxColumns = 5
	maxThumbs  = 120 // the first ones of more
)

// Sheet is one picture of all slides: rows of thumbnails, at most 120.
type Sheet struct {
	slides, columns, height int // height: of a thumbnail
	picture                 *image.RGBA
}

// NewSheet returns the sheet for a number of slides.
func NewSheet(slides int) *Sheet {
	slides = min(max(slides, 1), maxThumbs)
	columns := min(slides, 3)
	if slides > 12 {
		columns = maxColumns
	}
	return &Sheet{slides: slides, columns: columns}
}

// Add draws a slide, numbered from 0, in its place. The first one says how high all are.
func (s *Sheet) Add(n int, slide image.Image) error {
	if n >= s.slides {
		return nil
	}
	if s.picture == nil {
		s.height = min(max(slide.Bounds().Dy()*thumb/max(slide.Bounds().Dx(), 1), 1), 4*thumb)
		rows := (s.slides + s.columns - 1) / s.columns
		s.picture = image.NewRGBA(image.Rect(0, 0, gap+s.columns*(thumb+gap), gap+rows*(s.height+gap)))
		draw.Draw(s.picture, s.picture.Bounds(), image.NewUniform(color.RGBA{0xD9, 0xDE, 0xE5, 0xFF}), image.Point{}, draw.Src)
	}
	x, y := gap+n%s.columns*(thumb+gap), gap+n/s.columns*(s.height+gap)
	xdraw.ApproxBiLinear.Scale(s.picture, image.Rect(x, y, x+thumb, y+s.height), slide, slide.Bounds(), draw.Src, nil)
	return nil
}

// Save writes the sheet. Slides were added before.
func (s *Sheet) Save(path string) error {
	_, err := save(s.picture, path)
	return err
}
