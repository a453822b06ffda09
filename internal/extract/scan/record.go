package scan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/pageimage"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// record collects the report about a document's pages.
type record struct {
	*reading
	log        []extract.PageDecision // one per page, in any order
	readPages  int                    // pages with text from OCR
	letters    float64
	confidence float64 // sum over the letters
	unread     []int
	reason     string
	others     ocr.Others
	passing    bool // a page that OCR should have read was not read, or in part, for a reason that may pass
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

// took adds text that was taken from OCR to the statistics.
func (r *record) took(text ocr.Page) {
	if len(text.Paragraphs) == 0 {
		return
	}
	r.readPages++
	r.others.Count(text)
	r.passing = r.passing || text.Partial
	n := float64(text.Letters())
	r.letters += n
	r.confidence += n * text.Confidence()
}

// fault returns err if it ends the extraction: a service behind the engine is at fault, or this machine lacks something,
// which is not a reason to leave pages unread. Memory may be lacking for one page only.
func fault(err error) error {
	if taskerr.Exhausted(err) && !errors.Is(err, child.ErrKilled) {
		return taskerr.Classify(err)
	}
	if f, ok := errors.AsType[*taskerr.Error](err); ok && taskerr.Classes[f.Class].Retryable {
		return err
	}
	return nil
}

// missed records why a page was not read by OCR, though it may have kept its own text.
func (r *record) missed(err error) {
	r.passing = r.passing || passing(err)
}

// passing reports whether a page that was not read for this reason may be read another time: it took too long, the
// kernel was short of memory, a service read only a part of it, or the task had no tokens left. Pages that were given up after
// others have the reasons of those.
func passing(err error) bool {
	return errors.Is(err, ocr.ErrPageTime) || errors.Is(err, pageimage.ErrTooSlow) || errors.Is(err, child.ErrKilled) ||
		errors.Is(err, ocr.ErrPart) || errors.Is(err, ocr.ErrTokens)
}

// skip records an unread page and the reason.
func (r *record) skip(page int, err error) {
	r.missed(err)
	r.unread = append(r.unread, page)
	if r.reason == "" || errors.Is(err, ocr.ErrTokens) { // that names what to do
		r.reason = r.explain(err)
	}
}

// explain returns the reason of an unread page as a sentence, or "" if an earlier page has it.
func (r *record) explain(err error) string {
	switch {
	case errors.Is(err, errNoEngine):
		return r.noEngineReason
	case errors.Is(err, errGivenUp):
		return ""
	case errors.Is(err, errTooMany):
		return fmt.Sprintf("at most %d pages of a document are read by OCR", r.opts.Pages)
	case errors.Is(err, ocr.ErrPageTime), errors.Is(err, pageimage.ErrTooSlow):
		return fmt.Sprintf("a page took longer than %s", r.opts.PageTime)
	}
	if gone, ok := errors.AsType[*ocr.UnavailableError](err); ok {
		return gone.Error()
	}
	return err.Error()
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
	info.Incomplete = r.passing
	info.Warnings = append(info.Warnings, r.others.Warnings(info.Pages)...)
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
