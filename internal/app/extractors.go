package app

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

// Extractors returns the router over all extractors. It needs no service. pageTime is the time for one page of OCR
// (STEP_TIMEOUT_SEC). Tesseract reads pages without text, in the languages whose data are installed (see
// tesseract.Options). Without tesseract the router works, too: such pages stay unread and are reported as unread,
// images are rejected, and noOCR is the reason. The cache keeps page readings; nil: there is none. Programs and
// decoders share the default of PARSER_MEMORY_MB.
func Extractors(ctx context.Context, pageTime time.Duration, cache pages.Cache) (router *extract.Router, noOCR error) {
	pool := child.NewPool(config.DefaultParserMemory)
	engine, noOCR := openTesseract(ctx, "", pool)
	return extractors(pages.Reader{
		Engine: engine, Budget: pages.NewBudget(0), PageTime: pageTime, Cache: cache,
	}, noOCR).WithPool(pool), noOCR
}

// ExtractorsOf returns the router for one document, with a pool of this many bytes of memory. It is as Extractors', but
// does not ask tesseract what it can where a document of this format has nothing for it.
func ExtractorsOf(
	ctx context.Context, format extract.Format, pageTime time.Duration, memory int64,
) *extract.Router {
	pool := child.NewPool(memory)
	noOCR := errNothingToRead
	r := pages.Reader{Budget: pages.NewBudget(0), PageTime: pageTime}
	if !format.SelfContained() {
		r.Engine, noOCR = openTesseract(ctx, "", pool)
	}
	return extractors(r, noOCR).WithPool(pool)
}

// errNothingToRead is never seen: it is for formats without pages or files.
var errNothingToRead = errors.New("documents of this format have nothing for OCR")

// extractors returns the router whose pages r reads; noOCR is the reason if r is nil.
func extractors(r pages.Reader, noOCR error) *extract.Router {
	opts := scan.Options{PageTime: r.PageTime, Budget: r.Budget, Cache: r.Cache}
	if noOCR != nil {
		return extract.NewRouter(native.Extractors(scan.Without(pdf.New(), noOCR, opts), scan.ImagesWithout(noOCR)))
	}
	return extract.NewRouter(native.Extractors(scan.New(pdf.New(), r.Engine, opts), scan.NewImages(r.Engine, opts)))
}
