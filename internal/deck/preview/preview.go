// Package preview makes pictures of a deck's slides of its PDF, and one picture of all of them.
package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	xdraw "golang.org/x/image/draw"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Options qualify Render.
type Options struct {
	Page  int           // only this one, from 1; 0: all
	Width int           // of a slide's picture in pixels; 0: 960
	Time  time.Duration // for all of it; 0: child.DefaultLimits
	Pool  *child.Pool   // of memory; nil: unlimited
}

const (
	defaultWidth = 960
	maxPicture   = 32 << 20 // bytes of a slide's picture
	baseMemory   = 96 << 20 // of pdftoppm
	maxSlides    = 2000
)

// Render draws the pages of a PDF into a folder, which has nothing else, and returns their files in order. Errors are
// *taskerr.Error, *child.NotInstalledError, or the context's cause.
func Render(ctx context.Context, pdf, folder string, o Options) ([]string, error) {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	prefix := filepath.Join(folder, "slide")
	first, last := max(o.Page, 1), cmp.Or(o.Page, maxSlides)
	result, err := o.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: "pdftoppm", Package: "poppler-utils", Files: []string{pdf}, Folders: []string{folder}, Dir: folder,
			Args: []string{
				"-png", "-scale-to-x", strconv.Itoa(o.Width), "-scale-to-y", "-1",
				"-f", strconv.Itoa(first), "-l", strconv.Itoa(last), pdf, prefix,
			},
			Limits: child.Limits{Wait: o.Time, CPU: o.Time, Memory: baseMemory + int64(o.Width*o.Width)*12, File: maxPicture},
		}
	})
	if err != nil {
		return nil, err
	}
	if !result.OK() {
		return nil, taskerr.Errorf(taskerr.InternalBug, "the slides can't be drawn (pdftoppm: %s, status %d)", result.End, result.ExitCode)
	}
	files, err := filepath.Glob(prefix + "-*.png")
	if err == nil && len(files) == 0 {
		err = errors.New("pdftoppm draws nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("draw the slides: %w", err)
	}
	slices.Sort(files) // their numbers have leading zeros
	return files, nil
}

// The sheet of all slides.
const (
	thumb      = 320 // pixels of a slide's width
	gap        = 16
	maxColumns = 5
	maxThumbs  = 120 // the first ones of more
)

// Sheet draws one picture of all slides: rows of thumbnails, at most 120.
func Sheet(ctx context.Context, slides []string, to string) error {
	slides = slides[:min(len(slides), maxThumbs)]
	columns := min(max(len(slides), 1), 3)
	if len(slides) > 12 {
		columns = maxColumns
	}
	var sheet *image.RGBA
	height := 0
	for i, path := range slides {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		slide, err := load(path)
		if err != nil {
			return err
		}
		if sheet == nil {
			height = max(slide.Bounds().Dy()*thumb/max(slide.Bounds().Dx(), 1), 1)
			height = min(height, 4*thumb)
			rows := (len(slides) + columns - 1) / columns
			sheet = image.NewRGBA(image.Rect(0, 0, gap+columns*(thumb+gap), gap+rows*(height+gap)))
			draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.RGBA{0xD9, 0xDE, 0xE5, 0xFF}), image.Point{}, draw.Src)
		}
		x, y := gap+i%columns*(thumb+gap), gap+i/columns*(height+gap)
		xdraw.ApproxBiLinear.Scale(sheet, image.Rect(x, y, x+thumb, y+height), slide, slide.Bounds(), draw.Src, nil)
	}
	if sheet == nil {
		return errors.New("there are no slides to draw")
	}
	return save(sheet, to)
}

func load(path string) (image.Image, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the picture of a slide: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	img, err := png.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("read the picture of a slide: %w", err)
	}
	return img, nil
}

func save(img image.Image, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the picture of all slides: %w", err)
	}
	if err := errors.Join(png.Encode(file, img), file.Close()); err != nil {
		return fmt.Errorf("write the picture of all slides: %w", err)
	}
	return nil
}
