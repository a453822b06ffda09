package app

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
)

// openReader makes what reads the pages of documents and of ocr tasks, within one budget, by the engine that
// OCR_ENGINE names: one function for each. The error says why there is no OCR. Where personal data are redacted no
// page is kept in the store, as it was read before that.
func (t *Tenant) openReader(ctx context.Context, tempDir string) (pages.Reader, error) {
	r := pages.Reader{Budget: pages.NewBudget(0), PageTime: t.Config.StepTimeout}
	if t.Config.PII.Mode != config.PIIRedact {
		r.Cache = &pageCache{store: t.Store, log: t.log}
	}
	var err error
	r.Engine, err = openTesseract(ctx, tempDir)
	return r, err
}

// openTesseract gives no engine (and no typed nil) with an error.
func openTesseract(ctx context.Context, tempDir string) (ocr.Engine, error) {
	e, err := tesseract.Open(ctx, tesseract.Options{TempDir: tempDir})
	if err != nil {
		return nil, err
	}
	return e, nil
}
