// Package preview makes pictures of a deck's slides of its PDF, and one picture of all of them.
package preview

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Options qualify Render.
type Options struct {
	Pages []int         // only these, from 1, in ascending order; empty: all
	Width int           // of a slide's picture in pixels; 0: 960
	Bytes int64         // of all pictures; 0: 2 GiB
	Time  time.Duration // for all of it; 0: child.DefaultLimits
	Pool  *child.Pool   // of memory; nil: unlimited
	// Each is called with each picture, and its place among those that are made, from 0; more than once if poppler begins
	// again with more memory. The picture is the next one's afterwards. Nil: not called.
	Each func(place int, picture image.Image) error
}

const (
	defaultWidth = 960
	maxPixels    = 12 << 20 // of a slide's picture: 48 MB
	baseMemory   = 96 << 20 // of pdftoppm
	maxPages     = 2000     // that are drawn, with those between the ones of Options.Pages
	defaultBytes = 2 << 30
)

// Render draws the pages of a PDF into a folder, which has nothing else, and returns their files in order, which are fewer
// than asked for if the file has fewer pages, or they span more than 2000. Poppler draws and we encode: its own PNG takes
// seven times as long as all its drawing. Errors are *taskerr.Error, *child.NotInstalledError, or the context's cause.
func Render(ctx context.Context, pdf, folder string, o Options) (files []string, err error) {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	first, last := 1, maxPages
	if len(o.Pages) > 0 {
		first, last = o.Pages[0], min(o.Pages[len(o.Pages)-1], o.Pages[0]+maxPages-1)
	}
	result, err := o.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: "pdftoppm", Package: "poppler-utils", Files: []string{pdf}, Dir: folder,
			Args: []string{
				"-scale-to-x", strconv.Itoa(o.Width), "-scale-to-y", "-1", "-f", strconv.Itoa(first), "-l", strconv.Itoa(last), pdf,
			},
			Stdout: func(out io.Reader) (err error) {
				files, err = encode(ctx, out, first, folder, o)
				return err
			},
			Limits: child.Limits{
				Wait: o.Time, CPU: o.Time, Memory: baseMemory + int64(o.Width*o.Width)*12, Output: maxPages * 3 * maxPixels,
			},
		}
	})
	if err != nil {
		return nil, err
	}
	if !result.OK() {
		return nil, taskerr.Errorf(taskerr.InternalBug, "the slides can't be drawn (pdftoppm: %s, status %d)", result.End, result.ExitCode)
	}
	if len(files) == 0 {
		return nil, errors.New("draw the slides: pdftoppm draws nothing")
	}
	return files, nil
}

// encode writes the pictures that a program writes to its output, one behind the other from the first page on, as PNG
// files.
func encode(ctx context.Context, out io.Reader, first int, folder string, o Options) (files []string, err error) {
	in := bufio.NewReaderSize(out, 256<<10)
	room := cmp.Or(o.Bytes, defaultBytes)
	picture := &image.NRGBA{}
	for page := first; ; page++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return files, nil
		}
		if err := readPPM(in, picture); errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return files, nil // the program's result has the reason
		} else if err != nil {
			return nil, err
		}
		if _, wanted := slices.BinarySearch(o.Pages, page); len(o.Pages) > 0 && !wanted {
			continue
		}
		path := filepath.Join(folder, fmt.Sprintf("slide-%04d.png", len(files)+1))
		size, err := save(picture, path)
		if err != nil {
			return nil, err
		}
		if room -= size; room < 0 {
			return nil, taskerr.Errorf(taskerr.QuotaExceeded, "the pictures of the slides have more than %d MB",
				cmp.Or(o.Bytes, defaultBytes)>>20)
		}
		if o.Each != nil {
			if err := o.Each(len(files), picture); err != nil {
				return nil, err
			}
		}
		files = append(files, path)
	}
}

// readPPM reads a picture in the format P6 into another one's memory.
func readPPM(in *bufio.Reader, to *image.NRGBA) error {
	var width, height, depth int
	var end byte
	if _, err := fmt.Fscanf(in, "P6\n%d %d\n%d%c", &width, &height, &depth, &end); err != nil {
		return fmt.Errorf("read the picture of a slide: its header: %w", err)
	}
	if width < 1 || height < 1 || depth != 255 || width > maxPixels/height {
		return fmt.Errorf("read the picture of a slide: %d by %d pixels of depth %d", width, height, depth)
	}
	if to.Bounds() != image.Rect(0, 0, width, height) {
		*to = *image.NewNRGBA(image.Rect(0, 0, width, height))
	}
	row := make([]byte, 3*width)
	for y := range height {
		if _, err := io.ReadFull(in, row); err != nil {
			return fmt.Errorf("read the picture of a slide: %w", err)
		}
		pixels := to.Pix[y*to.Stride:][:4*width]
		for x := range width {
			pixels[4*x], pixels[4*x+1], pixels[4*x+2], pixels[4*x+3] = row[3*x], row[3*x+1], row[3*x+2], 0xFF
		}
	}
	return nil
}

// save writes a picture, and returns its bytes; quickly: a slower encoder makes it a twentieth smaller.
func save(img image.Image, path string) (size int64, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("write the picture of slides: %w", err)
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	err = encoder.Encode(file, img)
	if err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return 0, fmt.Errorf("write the picture of slides: %w", err)
	}
	return size, nil
}
