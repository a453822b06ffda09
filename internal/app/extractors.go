package app

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
)

// Extractors is the router over all extractors. It needs no service. pageTime is for one page of OCR
// (STEP_TIMEOUT_SEC). Pages without text are read by tesseract in the languages whose data are
// installed (see tesseract.Options). Without tesseract the router works, too: such pages stay unread,
// what it tells of a document says so, images are refused, and noOCR says why. What was read of a page is
// kept in the cache; nil: there is none. Programs and decoders take the memory that PARSER_MEMORY_MB is unless set.
func Extractors(ctx context.Context, pageTime time.Duration, cache pages.Cache) (router *extract.Router, noOCR error) {
	return ExtractorsWithin(ctx, pageTime, cache, config.DefaultParserMemory)
}

// ExtractorsWithin is Extractors with so many bytes of memory.
func ExtractorsWithin(
	ctx context.Context, pageTime time.Duration, cache pages.Cache, memory int64,
) (router *extract.Router, noOCR error) {
	pool := child.NewPool(memory)
	engine, noOCR := openTesseract(ctx, "", pool)
	return extractors(pages.Reader{
		Engine: engine, Budget: pages.NewBudget(0), PageTime: pageTime, Cache: cache,
	}, noOCR).WithPool(pool), noOCR
}

// extractors is the router whose pages are read by r, or not for a reason.
func extractors(r pages.Reader, noOCR error) *extract.Router {
	opts := scan.Options{PageTime: r.PageTime, Budget: r.Budget, Cache: r.Cache}
	if noOCR != nil {
		return extract.NewRouter(native.Extractors(scan.Without(pdf.New(), noOCR, opts), scan.ImagesWithout(noOCR)))
	}
	return extract.NewRouter(native.Extractors(scan.New(pdf.New(), r.Engine, opts), scan.NewImages(r.Engine, opts)))
}
