package app

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/scan"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
)

// Extractors is the router over all extractors. It needs no service. pageTime is for one page of OCR
// (STEP_TIMEOUT_SEC). Pages without text are read by tesseract in the languages whose data are
// installed (see tesseract.Options). Without tesseract the router works, too: such pages stay unread,
// what it tells of a document says so, images are refused, and noOCR says why. What was read of a page is
// kept in the cache; nil: there is none.
func Extractors(ctx context.Context, pageTime time.Duration, cache pages.Cache) (router *extract.Router, noOCR error) {
	opts := scan.Options{PageTime: pageTime, Budget: pages.NewBudget(0), Cache: cache}
	engine, noOCR := tesseract.Open(ctx, tesseract.Options{})
	if noOCR != nil {
		return extract.NewRouter(native.Extractors(scan.Without(pdf.New(), noOCR, opts), scan.ImagesWithout(noOCR))), noOCR
	}
	return extract.NewRouter(native.Extractors(scan.New(pdf.New(), engine, opts), scan.NewImages(engine, opts))), nil
}
