package ocr_test

import (
	"context"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// fake is an engine whose failures a test decides.
type fake struct {
	mu    sync.Mutex
	calls int
	fail  func(ctx context.Context, call int, img ocr.Image) error
	side  int
	by    string // the engine that reads in its place
}

func (*fake) Name() string { return "fake" }

func (*fake) Version() string { return "1" }

func (*fake) Languages() []string { return []string{"eng"} }

func (e *fake) Abilities() ocr.Abilities {
	return ocr.Abilities{Boxes: true, Confidence: true, DPI: 72, Side: e.side}
}

func (e *fake) For(w ocr.Preferences) (ocr.Engine, error) {
	if w.Resolution > 0 {
		return &fake{fail: e.fail, side: w.Side()}, nil
	}
	return e, nil
}

func (e *fake) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	e.mu.Lock()
	e.calls++
	call := e.calls
	e.mu.Unlock()
	if e.fail != nil {
		if err := e.fail(ctx, call, img); err != nil {
			return ocr.Page{}, err
		}
	}
	word := ocr.Word{Text: "read", Confidence: 0.9, Box: ocr.Box{Left: 0.1, Top: 0.1, Right: 0.9, Bottom: 0.2}}
	return ocr.Page{Engine: e.by, Paragraphs: []ocr.Paragraph{{{word}}}}, nil
}
