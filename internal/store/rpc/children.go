package rpc

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (c *client) DocumentAt(ctx context.Context, documentSet, blob string) (string, error) {
	answer, err := call[struct {
		Filename string `json:"filename"`
	}](ctx, c, "aw_document_at", struct {
		DocumentSet string `json:"document_set"`
		Blob        string `json:"blob"`
	}{documentSet, blob})
	return answer.Filename, err
}

func (c *client) CompareBlobs(ctx context.Context, q store.BlobComparison) ([]store.ComparedBlob, error) {
	return call[[]store.ComparedBlob](ctx, c, "aw_compare_blobs", q)
}

func (c *client) DocumentsUnder(ctx context.Context, q store.UnderQuery) (store.UnderPage, error) {
	return call[store.UnderPage](ctx, c, "aw_documents_under", q)
}

func (c *client) SubmitChildren(ctx context.Context, h store.Holder, children []store.Submission) (map[string]time.Time, error) {
	answer, err := call[struct {
		Since map[string]time.Time `json:"since"`
	}](ctx, c, "aw_submit_children", struct {
		store.Holder
		Jobs []store.Submission `json:"jobs"`
	}{h, children})
	return answer.Since, err
}
