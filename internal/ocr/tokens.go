package ocr

import (
	"context"
	"errors"
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
