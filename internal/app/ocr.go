package app

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	ocrdocling "github.com/seed-7227ef26/async-worker/internal/ocr/docling"
	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/ocr/tesseract"
	"github.com/seed-7227ef26/async-worker/internal/ocr/vision"
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
	r.Engine, noOCR = openTesseract(ctx, tempDir)
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
	r.Engine, err = openVision(c, n, r.Engine)
	return r, nil, err
}

// openTesseract gives no engine (and no typed nil) with an error.
func openTesseract(ctx context.Context, tempDir string) (ocr.Engine, error) {
	e, err := tesseract.Open(ctx, tesseract.Options{TempDir: tempDir})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// openVision opens the model that reads pages; fallback reads what it can't, unless it is nil. Its rate limits
// are those of another model than the embeddings', so it has a limiter of its own.
func openVision(c config.Config, concurrency int, fallback ocr.Engine) (ocr.Engine, error) {
	o := openai.Config{
		BaseURL: c.OpenAI.BaseURL, APIKey: c.OpenAI.APIKey.Reveal(), Model: cmp.Or(c.OCR.Model, c.OpenAI.ChatModel),
		Concurrency: concurrency, RequestTimeout: c.StepTimeout, Names: openai.Names{Model: "OCR_MODEL"},
	}
	switch a := c.AzureOpenAI; {
	case c.OCR.BaseURL != "": // somebody else's service gets nobody else's key
		o.BaseURL, o.APIKey = c.OCR.BaseURL, c.OCR.APIKey.Reveal()
		o.Names.URL, o.Names.Key = "OCR_BASE_URL", "OCR_API_KEY"
	case a.Endpoint != "":
		o.Azure = &openai.Azure{Endpoint: a.Endpoint, APIKey: a.APIKey.Reveal(), APIVersion: a.APIVersion}
	}
	chat, err := openai.NewChat(o)
	if err != nil {
		return nil, fmt.Errorf("open the model for OCR: %w", err)
	}
	return vision.New(chat, vision.Options{Fallback: fallback}), nil
}

// openDoclingOCR opens docling-serve as what reads pages.
func (t *Tenant) openDoclingOCR(tempDir string) (ocr.Engine, error) {
	client, err := DoclingClient(t.Config, tempDir, t.log)
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, func() error { client.CloseIdle(); return nil })
	return ocrdocling.New(client, tempDir), nil
}
