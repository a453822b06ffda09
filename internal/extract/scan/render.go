package scan

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"regexp"
	"strconv"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// renderer looks at the pages of one PDF with poppler's programs.
type renderer struct {
	path      string // absolute
	maxPixels int
	tempDir   string
	limits    child.Limits
}

// about is what has to be known of a page before it is rendered.
type about struct {
	width, height float64 // points
	letters       int     // of its own text; counting stops soon after ownLetters
}

func (r renderer) run(ctx context.Context, program string, out func(io.Reader) error, args ...string) error {
	result, err := child.Run(ctx, child.Command{
		Program: program, Package: "poppler-utils", Args: args, Dir: r.tempDir, Stdout: out, Limits: r.limits,
	})
	switch {
	case err != nil:
		return err
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

// look measures the page and counts its letters.
func (r renderer) look(ctx context.Context, number int) (about, error) {
	var a about
	page := strconv.Itoa(number)
	err := r.run(ctx, "pdftotext", func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		lines.Buffer(make([]byte, 0, 4<<10), 1<<20)
		for a.letters < ownLetters && lines.Scan() {
			if m := pageLine.FindSubmatch(lines.Bytes()); m != nil {
				a.width, _ = strconv.ParseFloat(string(m[1]), 64)
				a.height, _ = strconv.ParseFloat(string(m[2]), 64)
			} else if m := wordLine.FindSubmatch(lines.Bytes()); m != nil {
				a.letters += ocr.Letters(string(m[1]))
			}
		}
		return nil // a line without end is not ours to complain about
	}, "-bbox", "-enc", "UTF-8", "-f", page, "-l", page, r.path, "-")
	if err == nil && !(a.width > 0 && a.height > 0) {
		err = errors.New("the page has no size")
	}
	return a, err
}

// render draws the page in gray, as its reader sees it, and coarser when it would have too many pixels.
func (r renderer) render(ctx context.Context, number int, a about, resolution int) (ocr.Image, error) {
	const pointsPerInch = 72
	// A little under the limit: widths and heights are rounded up.
	most := math.Sqrt(float64(r.maxPixels)*0.98/(a.width*a.height)) * pointsPerInch
	resolution = max(min(resolution, int(most)), 1)
	page := strconv.Itoa(number)
	var img *image.Gray
	err := r.run(ctx, "pdftoppm", func(out io.Reader) (err error) {
		img, err = ocr.ReadPGM(out, r.maxPixels)
		if errors.Is(err, ocr.ErrNoImage) {
			err = nil // the program's end says why
		}
		return err
	}, "-gray", "-r", strconv.Itoa(resolution), "-f", page, "-l", page, r.path)
	if err == nil && img == nil {
		err = errors.New("pdftoppm draws nothing")
	}
	if err != nil {
		return ocr.Image{}, fmt.Errorf("render the page: %w", err)
	}
	return ocr.Image{Gray: img, DPI: resolution}, nil
}

const (
	// contrast is by how many levels of 256 a pixel differs from its background.
	contrast = 32
	// blankShare: a page number has about one pixel of ten thousand, a word three.
	blankShare = 1.0 / 20_000
)

// blank says whether there is nothing on the page: nearly all of it has the color of most of it.
func blank(img *image.Gray) bool {
	var levels [256]int
	for _, v := range img.Pix {
		levels[v]++
	}
	paper := 0
	for v, n := range levels {
		if n > levels[paper] {
			paper = v
		}
	}
	marks := 0
	for v, n := range levels {
		if v < paper-contrast || v > paper+contrast {
			marks += n
		}
	}
	return float64(marks) < blankShare*float64(len(img.Pix))
}
