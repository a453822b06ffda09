package pageimage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"regexp"
	"sort"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// PDF renders the pages of one PDF file with poppler's programs.
type PDF struct {
	Path      string // absolute
	MaxPixels int    // of an image; larger pages are rendered coarser
	Limits    child.Limits
	Pool      *child.Pool // nil: a program has Limits.Memory
}

// About describes a page before it is rendered.
type About struct {
	Width, Height float64 // points
	Letters       int     // in its own text; counting stops soon after the requested number
}

// ErrTooSlow is the error of a page that takes longer than its program's limits allow.
var ErrTooSlow = errors.New("it took too long")

// ProgramLimits returns the limits of a program that renders one page to its standard output.
func ProgramLimits(time time.Duration, memory int64, maxPixels int) child.Limits {
	return child.Limits{Wait: time, CPU: time, Memory: memory, Output: int64(maxPixels) + 1<<20, File: 1 << 20}
}

// run runs a program as a step with memory from the pool, and once more if it needs more. out then starts
// again.
func (r PDF) run(ctx context.Context, program string, memory int64, out func(io.Reader) error, args ...string) error {
	limits := r.Limits
	if r.Pool != nil {
		limits.Memory = memory
	}
	result, err := r.Pool.Run(ctx, func() child.Command {
		return child.Command{
			Program: program, Package: "poppler-utils", Args: args, Files: []string{r.Path}, NoFolder: true,
			Stdout: out, Limits: limits,
		}
	})
	switch {
	case err != nil:
		return err
	case result.End == child.WaitLimit, result.End == child.CPULimit:
		return fmt.Errorf("%s was ended: %w", program, ErrTooSlow)
	case result.End != child.Exited:
		return fmt.Errorf("%s ended by %s", program, result.End)
	case result.ExitCode != 0:
		return fmt.Errorf("%s failed with status %d", program, result.ExitCode)
	}
	return nil
}

var (
	pageLine = regexp.MustCompile(`^\s*<page width="([\d.]+)" height="([\d.]+)">`)
	wordLine = regexp.MustCompile(`^\s*<word [^>]*>(.*)</word>`)
)

// Look measures the page and counts its letters, to a little above the requested number.
func (r PDF) Look(ctx context.Context, number, letters int) (About, error) {
	var a About
	page := strconv.Itoa(number)
	err := r.run(ctx, "pdftotext", lookMemory, func(out io.Reader) error {
		a = About{}
		lines := bufio.NewScanner(out)
		lines.Buffer(make([]byte, 0, 4<<10), 1<<20)
		for (a.Width == 0 || a.Letters < letters) && lines.Scan() {
			if m := pageLine.FindSubmatch(lines.Bytes()); m != nil {
				a.Width, _ = strconv.ParseFloat(string(m[1]), 64)
				a.Height, _ = strconv.ParseFloat(string(m[2]), 64)
			} else if m := wordLine.FindSubmatch(lines.Bytes()); m != nil {
				a.Letters += ocr.Letters(string(m[1]))
			}
		}
		return nil // a line that is too long is not an error here
	}, "-bbox", "-enc", "UTF-8", "-f", page, "-l", page, r.Path, "-")
	if err == nil && !(a.Width > 0 && a.Height > 0) {
		err = errors.New("the page has no size")
	}
	return a, err
}

const pointsPerInch = 72

// Memory of programs from the pool, in bytes. A page of text at 300 dpi takes pdftoppm 54 MiB, one with
// pictures more.
const (
	lookMemory   = 48 << 20
	renderMemory = 80 << 20
	ofPixel      = 3
)

// reserve is the part of the pixels that a page may have; the rest is for what programs add.
const reserve = 0.98

// fit returns the highest resolution, from 1 to wanted, at which a page has at most the given number of pixels,
// and that number. A side of less than a pixel counts as one.
func fit(a About, wanted, most int) (resolution int, pixels float64) {
	at := func(resolution int) float64 {
		scale := float64(resolution) / pointsPerInch
		return math.Ceil(a.Width*scale) * math.Ceil(a.Height*scale)
	}
	// the first that is too large
	above := sort.Search(max(wanted, 1), func(i int) bool { return at(i+1) > reserve*float64(most) })
	resolution = max(above, 1)
	return resolution, at(resolution)
}

// Render draws the page in gray as a reader sees it, at the resolution in dots per inch, or coarser if it would
// have too many pixels.
func (r PDF) Render(ctx context.Context, number int, a About, resolution int) (ocr.Image, error) {
	return r.render(ctx, number, a, resolution, func(int) []string { return nil })
}

// RenderPart is Render for a part of the page, in fractions of it.
func (r PDF) RenderPart(ctx context.Context, number int, a About, resolution int, part ocr.Box) (ocr.Image, error) {
	size := About{Width: a.Width * (part.Right - part.Left), Height: a.Height * (part.Bottom - part.Top)}
	img, err := r.render(ctx, number, size, resolution, func(resolution int) []string {
		pixels := func(points float64) string {
			return strconv.Itoa(int(math.Round(points * float64(resolution) / pointsPerInch)))
		}
		return []string{
			"-x", pixels(part.Left * a.Width), "-y", pixels(part.Top * a.Height), "-W", pixels(size.Width), "-H", pixels(size.Height),
		}
	})
	img.Part = part
	return img, err
}

// render draws a page, or what further arguments select of it, which measures a.
func (r PDF) render(
	ctx context.Context, number int, a About, resolution int, further func(resolution int) []string,
) (ocr.Image, error) {
	resolution, pixels := fit(a, resolution, r.MaxPixels)
	if pixels > float64(r.MaxPixels) {
		return ocr.Image{}, fmt.Errorf("render the page: it measures %.0f by %.0f points, and has more than %d "+
			"pixels at any resolution", a.Width, a.Height, r.MaxPixels)
	}
	page := strconv.Itoa(number)
	var img *image.Gray
	err := r.run(ctx, "pdftoppm", renderMemory+ofPixel*int64(pixels), func(out io.Reader) (err error) {
		img, err = ocr.ReadPGM(out, r.MaxPixels)
		if errors.Is(err, ocr.ErrNoImage) {
			err = nil // the program's result has the reason
		}
		return err
	}, append(append([]string{"-gray", "-r", strconv.Itoa(resolution), "-f", page, "-l", page}, further(resolution)...),
		r.Path)...)
	if err == nil && img == nil {
		err = errors.New("pdftoppm draws nothing")
	}
	if err != nil {
		return ocr.Image{}, fmt.Errorf("render the page: %w", err)
	}
	return ocr.Image{Gray: img, DPI: resolution}, nil
}
