package main

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (w countedStore) SubmitOnce(ctx context.Context, s store.OnceSubmission) (store.OnceAnswer, error) {
	return call(w.c, "store.SubmitOnce", func() (store.OnceAnswer, error) { return w.s.SubmitOnce(ctx, s) })
}

func (w countedStore) ForgetKeys(ctx context.Context, olderThan time.Duration, limit int) (int, error) {
	return call(w.c, "store.ForgetKeys", func() (int, error) { return w.s.ForgetKeys(ctx, olderThan, limit) })
}

func (w countedStore) SummaryRow(ctx context.Context, id string) (store.SummaryRow, error) {
	return call(w.c, "store.SummaryRow", func() (store.SummaryRow, error) { return w.s.SummaryRow(ctx, id) })
}

func (w countedStore) AgentRunRow(ctx context.Context, id string) (store.AgentRunRow, error) {
	return call(w.c, "store.AgentRunRow", func() (store.AgentRunRow, error) { return w.s.AgentRunRow(ctx, id) })
}

func (w countedStore) DerivedContentRow(ctx context.Context, id string) (store.DerivedContentRow, error) {
	return call(w.c, "store.DerivedContentRow",
		func() (store.DerivedContentRow, error) { return w.s.DerivedContentRow(ctx, id) })
}

func (w countedStore) DeckRow(ctx context.Context, id string) (store.DeckRow, error) {
	return call(w.c, "store.DeckRow", func() (store.DeckRow, error) { return w.s.DeckRow(ctx, id) })
}

func (w countedStore) LLMCheckRow(ctx context.Context, id string) (store.LLMCheckRow, error) {
	return call(w.c, "store.LLMCheckRow", func() (store.LLMCheckRow, error) { return w.s.LLMCheckRow(ctx, id) })
}

func (w countedStore) HoldDocument(ctx context.Context, h store.Holder, most int) (int, error) {
	return call(w.c, "store.HoldDocument", func() (int, error) { return w.s.HoldDocument(ctx, h, most) })
}

func (w countedStore) Stats(ctx context.Context, within time.Duration) ([]store.JobCount, error) {
	return call(w.c, "store.Stats", func() ([]store.JobCount, error) { return w.s.Stats(ctx, within) })
}
