package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Documents(ctx context.Context, q store.DocumentQuery) ([]store.DocumentEntry, error) {
	return call[[]store.DocumentEntry](ctx, c, "aw_documents", q)
}

func (c *client) Outlines(ctx context.Context, documentSet, document string) ([]store.DocumentOutline, error) {
	return call[[]store.DocumentOutline](ctx, c, "aw_outlines", struct {
		DocumentSet string `json:"document_set,omitempty"`
		Document    string `json:"document"`
	}{documentSet, document})
}

func (c *client) Passages(ctx context.Context, q store.PassageQuery) ([]store.Passage, error) {
	if q.IDs == nil {
		q.IDs = []string{}
	}
	return call[[]store.Passage](ctx, c, "aw_passages", q)
}

func (c *client) DocumentPassages(ctx context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	return call[[]store.Passage](ctx, c, "aw_document_passages", q)
}
