package rpc

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) Documents(ctx context.Context, q store.DocumentQuery) ([]store.DocumentEntry, error) {
	var found []store.DocumentEntry
	err := c.call(ctx, "aw_documents", struct {
		tenantArg
		store.DocumentQuery
	}{c.tenant(), q}, &found)
	return found, err
}

func (c *client) Outlines(ctx context.Context, documentSet, document string) ([]store.DocumentOutline, error) {
	var found []store.DocumentOutline
	err := c.call(ctx, "aw_outlines", struct {
		tenantArg
		DocumentSet string `json:"document_set,omitempty"`
		Document    string `json:"document"`
	}{c.tenant(), documentSet, document}, &found)
	return found, err
}

func (c *client) Passages(ctx context.Context, q store.PassageQuery) ([]store.Passage, error) {
	if q.IDs == nil {
		q.IDs = []string{}
	}
	var found []store.Passage
	err := c.call(ctx, "aw_passages", struct {
		tenantArg
		store.PassageQuery
	}{c.tenant(), q}, &found)
	return found, err
}

func (c *client) DocumentPassages(ctx context.Context, q store.DocumentPassageQuery) ([]store.Passage, error) {
	var found []store.Passage
	err := c.call(ctx, "aw_document_passages", struct {
		tenantArg
		store.DocumentPassageQuery
	}{c.tenant(), q}, &found)
	return found, err
}
