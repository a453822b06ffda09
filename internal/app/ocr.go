package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	ocrdocling "github.com/seed-7227ef26/async-worker/internal/ocr/docling"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/ocr/vision"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// openReader makes what reads the pages of documents and of ocr tasks, within one budget, by the engine that
// OCR_ENGINE names. The first error says why there is no OCR; the second is a wrong setting. Where personal data
// are redacted no page is kept in the store, as it was read before that.
func (t *Tenant) openReader(ctx context.Context, tempDir string) (r pages.Reader, noOCR, err error) {
	c := t.Config
	r = pages.Reader{Budget: pages.NewBudget(c.OCR.Concurrency), PageTime: c.StepTimeout}
	if c.PII.Mode != config.PIIRedact {
		r.Cache = &pageCache{store: t.Store, log: t.log}
	}
	r.Engine, noOCR = openTesseract(ctx, tempDir, t.pool)
	switch c.OCREngine {
	case config.OCRTesseract:
		return r, noOCR, nil
	case config.OCRDocling:
		n := cmp.Or(c.OCR.Concurrency, c.Concurrency)
		r.Budget, r.PageTime = pages.NewBudget(n), ocrdocling.PageTimes*c.StepTimeout
		r.Engine, err = t.openDoclingOCR(tempDir)
		return r, nil, err
	}
	// A budget of its own: such pages wait for the service, and hardly need a processor. Their time is that of
	// all requests that one may take.
	n := cmp.Or(c.OCR.Concurrency, openai.DefaultConcurrency)
	r.Budget, r.PageTime = pages.NewBudget(n), 2*vision.Tries*c.StepTimeout
	r.Engine, err = t.openVision(n, r.Engine)
	return r, nil, err
}

// openTesseract gives no engine (and no typed nil) with an error.
func openTesseract(ctx context.Context, tempDir string, pool *child.Pool) (ocr.Engine, error) {
	e, err := tesseract.Open(ctx, tesseract.Options{TempDir: tempDir, Pool: pool})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// openVision opens the model that reads pages; fallback reads what it can't, unless it is nil. On the account of
// embeddings and chat it shares their limiter; a service of its own has as many requests in flight as pages are read.
func (t *Tenant) openVision(concurrency int, fallback ocr.Engine) (ocr.Engine, error) {
	c := t.Config
	o := account(c)
	if c.OCR.BaseURL != "" { // somebody else's service gets nobody else's key
		o = openai.Config{
			BaseURL: c.OCR.BaseURL, APIKey: c.OCR.APIKey.Reveal(), RequestTimeout: c.StepTimeout,
			Concurrency: concurrency,
		}
		o.Names.URL, o.Names.Key = "OCR_BASE_URL", "OCR_API_KEY"
	}
	o.Limiter, o.Urgency = t.accounts.limiter(o), openai.Bulk
	o.Dependency = taskerr.OCR
	o.Model, o.Names.Model = cmp.Or(c.OCR.Model, c.OpenAI.ChatModel), "OCR_MODEL"
	chat, err := openai.NewChat(o)
	if err != nil {
		return nil, fmt.Errorf("open the model for OCR: %w", err)
	}
	t.probe(taskerr.OCR, chat.Probe)
	return vision.New(chat, vision.Options{Fallback: fallback}), nil
}

// openDoclingOCR opens docling-serve as what reads pages.
func (t *Tenant) openDoclingOCR(tempDir string) (ocr.Engine, error) {
	client, err := DoclingClient(t.Config, tempDir, t.log)
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, func() error { client.CloseIdle(); return nil })
	t.probe(taskerr.Docling, client.Probe)
	return ocrdocling.New(client, tempDir), nil
}
