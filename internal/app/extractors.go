package app

import (
	"context"
	"sync"
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
// asks tesseract what it can only when there is a PDF or an image to read, in the document or by itself: that takes
// longer than to read most documents.
func ExtractorsOf(ctx context.Context, pageTime time.Duration, memory int64) *extract.Router {
	pool := child.NewPool(memory)
	open := sync.OnceValue(func() (byFormat map[extract.Format]extract.Extractor) {
		engine, noOCR := openTesseract(ctx, "", pool)
		pdfs, images := readers(pages.Reader{Engine: engine, Budget: pages.NewBudget(0), PageTime: pageTime}, noOCR)
		return map[extract.Format]extract.Extractor{extract.PDF: pdfs, extract.Image: images}
	})
	return extract.NewRouter(native.Extractors(
		deferred{func() extract.Extractor { return open()[extract.PDF] }},
		deferred{func() extract.Extractor { return open()[extract.Image] }},
	)).WithPool(pool)
}

// deferred is an extractor that is opened when it is needed.
type deferred struct{ open func() extract.Extractor }

// Name implements extract.Extractor.
func (d deferred) Name() string { return d.open().Name() }

// Version implements extract.Extractor.
func (d deferred) Version() int { return d.open().Version() }

// Extract implements extract.Extractor.
func (d deferred) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	return d.open().Extract(ctx, src, limits, emit)
}

// extractors returns the router whose pages r reads; noOCR is the reason if r has no engine.
func extractors(r pages.Reader, noOCR error) *extract.Router {
	return extract.NewRouter(native.Extractors(readers(r, noOCR)))
}

// readers returns the extractors of PDFs and of images.
func readers(r pages.Reader, noOCR error) (pdfs, images extract.Extractor) {
	opts := scan.Options{PageTime: r.PageTime, Budget: r.Budget, Cache: r.Cache}
	if noOCR != nil {
		return scan.Without(pdf.New(), noOCR, opts), scan.ImagesWithout(noOCR)
	}
	return scan.New(pdf.New(), r.Engine, opts), scan.NewImages(r.Engine, opts)
}
