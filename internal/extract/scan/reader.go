package scan

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

const (
	// dpi is the resolution that OCR engines are made for.
	dpi = 300
	// lookDPI is enough to see whether there is anything on a page.
	lookDPI = 75
	// ownLetters is from how much text of its own a page is not a scan: the inner extractor left it
	// out on purpose, or put it to a paragraph that began on the page before. A scan may bear a
	// stamp, a number or the scanner's name as text.
	ownLetters = 40
	// maxFailures in a row are a fault of the document or the machine: the rest is not tried.
	maxFailures = 5
)

// reader reads the textless pages of one document.
type reader struct {
	*Extractor
	pdf        pageimage.PDF
	tried      int // pages that were given to the engine
	failures   int // in a row
	readPages  int // with text
	letters    float64
	confidence float64 // sum over the letters
	unread     []int
	reason     string
}

func (e *Extractor) newReader(src extract.Source, limits extract.Limits) (*reader, error) {
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return nil, fmt.Errorf("find the PDF: %w", err)
	}
	return &reader{Extractor: e, reason: e.why, pdf: pageimage.PDF{
		Path: path, MaxPixels: e.opts.Pixels, TempDir: e.opts.TempDir,
		Limits: pageimage.ProgramLimits(e.opts.PageTime, limits.ChildBytes, e.opts.Pixels),
	}}, nil
}

// page reads a page that gave no block, and emits what is on it. Its error is emit's, the end of ctx, or
// that of a service which another attempt may find well.
func (r *reader) page(ctx context.Context, number int, emit extract.Emit) error {
	if r.failures >= maxFailures {
		return r.skip(number, errGivenUp)
	}
	text, err := r.read(ctx, number)
	if ctx.Err() != nil {
		return fmt.Errorf("read page %d by OCR: %w", number, context.Cause(ctx))
	}
	if err != nil {
		return r.skip(number, err)
	}
	r.failures = 0
	return r.emit(number, text, emit)
}

// read returns what is on the page. One without anything on it, or with text of its own, gives none.
func (r *reader) read(ctx context.Context, number int) (ocr.Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.opts.PageTime, errPageTime)
	defer cancel()
	about, err := r.pdf.Look(ctx, number, ownLetters)
	if err != nil || about.Letters >= ownLetters {
		return ocr.Page{}, err
	}
	resolution := dpi
	if r.engine == nil || r.tried >= r.opts.Pages {
		resolution = lookDPI
	}
	img, err := r.pdf.Render(ctx, number, about, resolution)
	switch {
	case err != nil || pageimage.Blank(img.Gray):
		return ocr.Page{}, err
	case r.engine == nil:
		return ocr.Page{}, errNoEngine
	case r.tried >= r.opts.Pages:
		return ocr.Page{}, errTooMany
	}
	r.tried++
	text, err := r.engine.Read(ctx, img)
	return text.Clean(), err
}

var (
	errNoEngine = errors.New("there is no OCR")
	errTooMany  = errors.New("more pages than are read by OCR in one document")
	errGivenUp  = errors.New("too many pages before failed")
)

// skip notes a page that stays unread, and why. A fault of the service behind the engine is no reason to
// leave pages out: it is returned.
func (r *reader) skip(number int, why error) error {
	if fault, ok := errors.AsType[*job.Error](why); ok && job.Classes[fault.Class].Retryable {
		return why
	}
	r.unread = append(r.unread, number)
	switch {
	case errors.Is(why, errNoEngine), errors.Is(why, errGivenUp):
	case errors.Is(why, errTooMany):
		r.because(fmt.Sprintf("at most %d pages of a document are read by OCR", r.opts.Pages))
	default:
		r.failures++
		if gone, ok := errors.AsType[*ocr.UnavailableError](why); ok {
			r.failures = maxFailures // no other page can be read either
			why = gone
		} else if errors.Is(why, errPageTime) {
			why = fmt.Errorf("a page took longer than %s", r.opts.PageTime)
		}
		r.because(why.Error())
	}
	return nil
}

func (r *reader) because(why string) {
	if r.reason == "" {
		r.reason = why
	}
}

// emit hands on the page's paragraphs.
func (r *reader) emit(number int, text ocr.Page, emit extract.Emit) error {
	if len(text.Paragraphs) == 0 {
		return nil
	}
	r.readPages++
	n := float64(text.Letters())
	r.letters += n
	r.confidence += n * text.Confidence()
	for _, p := range text.Paragraphs {
		b := extract.Block{Kind: extract.Paragraph, Text: p.Text(), Page: number}
		if box := p.Box(); box.Known() {
			b.Box = new(extract.Box(box))
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// report tells in info what was read and what was not.
func (r *reader) report(info *extract.Info) {
	if info.Properties == nil {
		info.Properties = map[string]string{}
	}
	p := info.Properties
	if r.readPages > 0 {
		info.Extractor = r.by()
		p["ocr_pages"] = strconv.Itoa(r.readPages)
		p["ocr_engine"] = r.engine.Name() + " " + r.engine.Version()
		p["ocr_languages"] = strings.Join(r.engine.Languages(), "+")
		p["ocr_confidence"] = strconv.FormatFloat(r.confidence/max(r.letters, 1), 'f', 2, 64)
	}
	if len(r.unread) > 0 {
		p["unread_pages"] = strconv.Itoa(len(r.unread))
		p["unread_list"] = ranges(r.unread)
		p["unread_reason"] = r.reason
	}
}

// maxRanges is the longest list of pages, in bytes.
const maxRanges = 200

// ranges writes ascending numbers as e.g. "3-7,12".
func ranges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > maxRanges {
			b.WriteRune('…')
			break
		}
		b.WriteString(strconv.Itoa(numbers[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(numbers[j]))
		}
		i = j + 1
	}
	return b.String()
}
