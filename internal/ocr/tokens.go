package ocr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrTokens is the error of a page for which no model is asked: its task has used the tokens of WithTokens.
var ErrTokens = errors.New("the task may use no more tokens to read pages (OCR_MAX_TOKENS)")

type tokensKey struct{}

// WithTokens returns a context for the work on one task, which may use that many tokens to read pages with a model.
// Without it there is no limit.
func WithTokens(ctx context.Context, most int) context.Context {
	left := new(atomic.Int64)
	left.Store(int64(most))
	return context.WithValue(ctx, tokensKey{}, left)
}

// Spend counts what a page cost. One that an earlier attempt paid for, and a cache kept, counts again: else every
// attempt could read another part of a document for as much.
func Spend(ctx context.Context, u Usage) {
	if left, ok := ctx.Value(tokensKey{}).(*atomic.Int64); ok {
		left.Add(-int64(u.PromptTokens + u.CompletionTokens))
	}
}

// Spent reports whether the task may use no more tokens. The last request, and others at the same time, may exceed the limit.
func Spent(ctx context.Context) bool {
	left, ok := ctx.Value(tokensKey{}).(*atomic.Int64)
	return ok && left.Load() <= 0
}

// Others counts the pages of a document that another engine than the configured one read.
type Others struct {
	pages          int
	engine, reason string
}

// Count counts a page if another engine read it.
func (o *Others) Count(p Page) {
	if p.Engine == "" {
		return
	}
	o.pages++
	if o.engine = p.Engine; o.reason == "" || p.Reason == ErrTokens.Error() { // that names what to do
		o.reason = cmp.Or(p.Reason, "the model could not")
	}
}

// Warnings says how many of a document's pages they are, and why; nil: none.
func (o *Others) Warnings(of int) []string {
	if o.pages == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d pages were read by %s (%s)", o.pages, of, o.engine, o.reason)}
}
