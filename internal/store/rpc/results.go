package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func result[R any](ctx context.Context, c *client, kind, id string) (R, error) {
	return call[R](ctx, c, "aw_result", struct {
		Kind string `json:"kind"`
		ID   string `json:"id"`
	}{kind, id})
}

func (c *client) SummaryRow(ctx context.Context, id string) (store.SummaryRow, error) {
	return result[store.SummaryRow](ctx, c, "summary", id)
}

func (c *client) AgentRunRow(ctx context.Context, id string) (store.AgentRunRow, error) {
	return result[store.AgentRunRow](ctx, c, "agent_run", id)
}

func (c *client) DerivedContentRow(ctx context.Context, id string) (store.DerivedContentRow, error) {
	return result[store.DerivedContentRow](ctx, c, "derived_content", id)
}

func (c *client) DeckRow(ctx context.Context, id string) (store.DeckRow, error) {
	return result[store.DeckRow](ctx, c, "deck", id)
}

func (c *client) LLMCheckRow(ctx context.Context, id string) (store.LLMCheckRow, error) {
	return result[store.LLMCheckRow](ctx, c, "llm_check", id)
}

func (c *client) Stats(ctx context.Context, within time.Duration) ([]store.JobCount, error) {
	return call[[]store.JobCount](ctx, c, "aw_stats", struct {
		Within millis `json:"within_ms"`
	}{millis(within)})
}
