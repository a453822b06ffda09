package tesseract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

const (
	// A reading of at least sureConfidence and sureLetters needs no other try: clean print has 0.9 and more, a
	// sideways or upside-down page hardly ever half of it.
	sureConfidence = 0.8
	sureLetters    = 12
	// sureOrientation is the confidence (a difference of log-likelihoods) from which tesseract's orientation of
	// a page is used without trying the others.
	sureOrientation = 2
)

// Read implements ocr.Engine. A page that is a little askew is straightened first.
func (e *Engine) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	degrees := ocr.Skew(img.Gray)
	if degrees == 0 {
		return e.readStraight(ctx, img)
	}
	tilt := ocr.NewTilt(img, degrees)
	p, err := e.readStraight(ctx, tilt.Of(img))
	if err != nil {
		return ocr.Page{}, err
	}
	return p.Tilted(tilt), nil
}

// readStraight reads a page in its given orientation, which is right for nearly all pages
// and costs one run. Only if the result is doubtful does tesseract detect the orientation; if that is doubtful,
// too, the other rotations are tried, and the one with the most evidence of text is kept.
//
// If ctx ends during another try, its error is returned, because the result so far may be nonsense.
func (e *Engine) readStraight(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	best, err := e.read(ctx, img, 0, "--psm", "3")
	if err != nil {
		return ocr.Page{}, err
	}
	if best, err = e.readTables(ctx, img, best); err != nil || sure(best) {
		return best, err
	}
	likely, confidence, err := e.orientation(ctx, img)
	if err != nil {
		return ocr.Page{}, err
	}
	if likely == 0 && confidence >= sureOrientation || confidence == 0 && len(best.Paragraphs) == 0 {
		return best, nil // upright but hard to read, or a picture without text
	}
	for _, rotation := range tries(likely) {
		p, err := e.read(ctx, img, rotation, "--psm", "3")
		if err != nil {
			return ocr.Page{}, err
		}
		if p.Evidence() > best.Evidence() {
			best = p
		}
		if sure(best) || rotation == likely && best.Turned == likely && confidence >= sureOrientation {
			break
		}
	}
	if best.Turned == 0 {
		return best, nil
	}
	return e.readTables(ctx, img, best)
}

// readTables reads what a reading left unread in ruled tables, without their rules: as one block, because tesseract's
// layout loses columns of a table, and with a threshold for each place, because cells may be shaded. What was read
// before is kept, also if this fails or the page's time ends.
func (e *Engine) readTables(ctx context.Context, img ocr.Image, p ocr.Page) (ocr.Page, error) {
	tables, unread := ocr.UnreadTables(img, p)
	if !unread {
		return p, nil
	}
	more, err := e.read(ctx, tables, p.Upright(img), "--psm", "6", "-c", "thresholding_method=2") // Sauvola's
	switch {
	case err == nil:
		return p.With(more.On(tables)), nil
	case ctx.Err() == nil, errors.Is(err, ocr.ErrPageTime):
		p.Partial = ctx.Err() != nil || errors.Is(err, child.ErrKilled)
		return p, nil //nolint:nilerr // the rest of the page was read
	}
	return ocr.Page{}, err
}

func sure(p ocr.Page) bool {
	return p.Letters() >= sureLetters && p.Confidence() >= sureConfidence
}

// tries lists the rotations to try, the likely one first.
func tries(likely ocr.Rotation) []ocr.Rotation {
	rotations := []ocr.Rotation{}
	if likely != 0 {
		rotations = append(rotations, likely)
	}
	for _, t := range []ocr.Rotation{2, 1, 3} {
		if t != likely {
			rotations = append(rotations, t)
		}
	}
	return rotations
}

// read reads the image once, rotated.
func (e *Engine) read(ctx context.Context, img ocr.Image, rotation ocr.Rotation, mode ...string) (ocr.Page, error) {
	var p parser
	parse := func(r io.Reader) error {
		p = parser{width: float64(img.Rect.Dx()), height: float64(img.Rect.Dy()), rotation: rotation}
		if rotation == 1 || rotation == 3 {
			p.width, p.height = p.height, p.width
		}
		return p.parse(r)
	}
	args := slices.Concat([]string{"-l", strings.Join(e.languages, "+"), "--oem", "1"}, mode, []string{"tsv"})
	result, err := e.runOn(ctx, img, rotation, parse, args...)
	switch {
	case err != nil:
		return ocr.Page{}, err
	case !result.OK():
		return ocr.Page{}, failure(result)
	}
	return ocr.Page{Paragraphs: p.paragraphs, Turned: rotation}, nil
}

// runOn runs the program on an image, rotated. The image goes through a pipe, so that no file of it can be left behind.
func (e *Engine) runOn(
	ctx context.Context, img ocr.Image, rotation ocr.Rotation, out func(io.Reader) error, args ...string,
) (child.Result, error) {
	var read *io.PipeReader
	var writing sync.WaitGroup
	in := func() io.Reader {
		if read != nil {
			read.Close() // the previous run may not have read all
			writing.Wait()
		}
		var write *io.PipeWriter
		read, write = io.Pipe()
		writing.Go(func() { write.CloseWithError(rotation.WritePGM(write, img.Gray)) })
		return read
	}
	pixels := img.Rect.Dx() * img.Rect.Dy()
	result, err := e.run(ctx, pixels, in, out, append([]string{"stdin", "stdout", "--dpi", strconv.Itoa(img.DPI)},
		args...)...)
	if read != nil {
		read.Close()
		writing.Wait()
	}
	return result, err
}

var (
	rotateLine     = pattern.New(`(?m)^Rotate: (\d+)`)
	confidenceLine = pattern.New(`(?m)^Orientation confidence: ([\d.]+)`)
)

// orientation returns the rotation that makes the page upright. The confidence is zero if it can't be
// determined: there is too little text, or the data are not installed.
func (e *Engine) orientation(ctx context.Context, img ocr.Image) (rotation ocr.Rotation, confidence float64, err error) {
	if !e.osd {
		return 0, 0, nil
	}
	var out []byte
	result, err := e.runOn(ctx, img, 0, func(r io.Reader) (err error) {
		out, err = io.ReadAll(io.LimitReader(r, 4<<10))
		return err
	}, "--psm", "0")
	if err != nil {
		return 0, 0, fmt.Errorf("detect the orientation of a page: %w", err)
	}
	degrees, sureness := rotateLine.FindSubmatch(out), confidenceLine.FindSubmatch(out)
	if !result.OK() || degrees == nil || sureness == nil {
		return 0, 0, nil // "Too few characters"
	}
	d, _ := strconv.Atoi(string(degrees[1]))
	confidence, _ = strconv.ParseFloat(string(sureness[1]), 64)
	return ocr.Rotation(d / 90 % 4), confidence, nil
}
