package scan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// record collects what is reported about a document's pages.
type record struct {
	*reading
	log        []extract.PageDecision // one a page, in no order
	readPages  int                    // with text of OCR
	letters    float64
	confidence float64 // sum over the letters
	unread     []int
	reason     string
}

var (
	errNoEngine = errors.New("there is no OCR")
	errTooMany  = errors.New("more pages than are read by OCR in one document")
	errGivenUp  = errors.New("too many pages before failed")
)

// note records the decision on a page.
func (r *record) note(page int, d extract.PageDecision) {
	d.First, d.Last, d.Confidence = page, page, math.Round(d.Confidence*100)/100
	r.log = append(r.log, d)
}

// took notes what was taken of OCR.
func (r *record) took(text ocr.Page) {
	if len(text.Paragraphs) == 0 {
		return
	}
	r.readPages++
	n := float64(text.Letters())
	r.letters += n
	r.confidence += n * text.Confidence()
}

// fault is an error that ends the extraction: a service behind the engine is at fault, which is not a reason
// to leave pages out.
func fault(why error) error {
	if f, ok := errors.AsType[*taskerr.Error](why); ok && taskerr.Classes[f.Class].Retryable {
		return why
	}
	return nil
}

// skip notes a page that stays unread, and why.
func (r *record) skip(page int, why error) {
	r.unread = append(r.unread, page)
	if r.reason == "" {
		r.reason = r.explain(why)
	}
}

// explain says for people why pages stay unread; "" when an earlier page has the reason.
func (r *record) explain(why error) string {
	switch {
	case errors.Is(why, errNoEngine):
		return r.why
	case errors.Is(why, errGivenUp):
		return ""
	case errors.Is(why, errTooMany):
		return fmt.Sprintf("at most %d pages of a document are read by OCR", r.opts.Pages)
	case errors.Is(why, pages.ErrPageTime):
		return fmt.Sprintf("a page took longer than %s", r.opts.PageTime)
	}
	if gone, ok := errors.AsType[*ocr.UnavailableError](why); ok {
		return gone.Error()
	}
	return why.Error()
}

// report writes into info what was read and what was not.
func (r *record) report(info *extract.Info) {
	slices.SortFunc(r.log, func(a, b extract.PageDecision) int { return cmp.Compare(a.First, b.First) })
	for _, d := range r.log {
		info.PageLog = extract.AppendPage(info.PageLog, d.First, d)
	}
	if info.Properties == nil {
		info.Properties = map[string]string{}
	}
	p := info.Properties
	if r.readPages > 0 {
		info.Extractor = r.name + "+" + r.engine.Name()
		p["ocr_pages"] = strconv.Itoa(r.readPages)
		p["ocr_engine"] = r.engine.Name() + " " + r.engine.Version()
		p["ocr_languages"] = strings.Join(r.engine.Languages(), "+")
		p["ocr_confidence"] = strconv.FormatFloat(r.confidence/max(r.letters, 1), 'f', 2, 64)
	}
	if len(r.unread) > 0 {
		p["unread_pages"] = strconv.Itoa(len(r.unread))
		p["unread_list"] = extract.PageRanges(r.unread)
		p["unread_reason"] = r.reason
	}
}
