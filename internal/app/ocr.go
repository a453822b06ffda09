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

// openReader returns the reader of pages of documents and of ocr tasks, within one budget, with the engine that
// OCR_ENGINE names. noOCR is why there is no OCR; err is a wrong setting. Where personal data are redacted the store
// keeps no page, since a reading holds the text from before the redaction.
func (t *Tenant) openReader(ctx context.Context, tempDir string) (r pages.Reader, noOCR, err error) {
	c := t.Config
	r = pages.Reader{Budget: pages.NewBudget(c.OCR.Concurrency), PageTime: c.StepTimeout}
	if c.PII.Mode != config.PIIRedact {
		r.Cache = &pageCache{store: t.Store, log: t.log}
	}
	r.Engine, noOCR = openTesseract(ctx, tempDir, t.pool)
	if taskerr.Exhausted(noOCR) { // there is OCR: a worker without it would leave scanned pages out until it is restarted
		return r, nil, fmt.Errorf("start tesseract: %w", taskerr.Classify(noOCR))
	}
	switch c.OCREngine {
	case config.OCRTesseract:
		return r, noOCR, nil
	case config.OCRDocling:
		n := cmp.Or(c.OCR.Concurrency, c.Concurrency)
		r.Budget, r.PageTime = pages.NewBudget(n), ocrdocling.PageTimes*c.StepTimeout
		r.Engine, err = t.openDoclingOCR(tempDir)
		return r, nil, err
	case config.OCROpenAI:
		// A separate budget: these pages wait for the service and hardly need a processor. pageTime covers all requests
		// that one page may take.
		n := cmp.Or(c.OCR.Concurrency, openai.DefaultConcurrency)
		r.Budget, r.PageTime = pages.NewBudget(n), 2*vision.Tries*c.StepTimeout
		r.Engine, err = t.openVision(n, r.Engine)
		return r, nil, err
	}
	return r, nil, fmt.Errorf("no engine is opened for OCR_ENGINE=%s; add its case to openReader", c.OCREngine)
}

// openTesseract returns a nil interface, not a typed nil, with an error.
func openTesseract(ctx context.Context, tempDir string, pool *child.Pool) (ocr.Engine, error) {
	e, err := tesseract.Open(ctx, tesseract.Options{TempDir: tempDir, Pool: pool})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// pageModel returns the settings of the model that reads pages, this many at a time. On another service than that of
// embeddings and chat it has one request in flight per page.
func pageModel(c config.Config, concurrency int) openai.Config {
	o := account(c)
	if c.OCR.BaseURL != "" { // no other service's key is sent there
		o = openai.Config{
			BaseURL: c.OCR.BaseURL, APIKey: c.OCR.APIKey.Reveal(), RequestTimeout: c.StepTimeout,
			Concurrency: concurrency,
		}
		o.Names.URL, o.Names.Key = "OCR_BASE_URL", "OCR_API_KEY"
	}
	o.Urgency, o.Dependency = openai.Bulk, taskerr.OCR
	o.Model, o.Names.Model = cmp.Or(c.OCR.Model, c.OpenAI.ChatModel), "OCR_MODEL"
	return o
}

// openVision opens the model that reads pages; fallback, unless nil, reads those it can't. On the account of embeddings and
// chat it shares their limiter.
func (t *Tenant) openVision(concurrency int, fallback ocr.Engine) (ocr.Engine, error) {
	o := pageModel(t.Config, concurrency)
	o.Limiter = t.limiter(o)
	chat, err := openai.NewChat(o)
	if err != nil {
		return nil, fmt.Errorf("open the model for OCR: %w", err)
	}
	t.probe(taskerr.OCR, chat.Probe)
	return vision.New(t.metrics.Chat(chat), vision.Options{Fallback: fallback}), nil
}

// openDoclingOCR opens docling-serve as the OCR engine.
func (t *Tenant) openDoclingOCR(tempDir string) (ocr.Engine, error) {
	client, err := DoclingClient(t.Config, tempDir, t.log)
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, func() error { client.CloseIdle(); return nil })
	t.probe(taskerr.Docling, client.Probe)
	return ocrdocling.New(client, tempDir), nil
}
