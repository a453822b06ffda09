package cognee

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Reconciled is what a reconciliation found and did. With a dry run it is what would be done.
type Reconciled struct {
	DryRun    bool `json:"dry_run"`
	InIndex   int  `json:"in_index"`  // documents
	InCognee  int  `json:"in_cognee"` // of these, and of documents that are not in the index
	Waiting   int  `json:"waiting"`   // documents that were due anyhow
	Queued    int  `json:"queued"`    // documents that Cognee lacks, or of which it may have another version
	Forgotten int  `json:"forgotten"` // rows of Cognee that the index lacks, or that are there twice
	Foreign   int  `json:"foreign"`   // rows in the tenant's datasets that are not named as ours; they are left alone
}

// reconciliation is one call of Reconcile.
type reconciliation struct {
	store    store.Cognee
	client   *Client
	clientID string
	found    map[string][]place // in Cognee, by the document's id
	names    map[string]string  // of datasets, by their ids
	report   Reconciled
}

const requeueBatch = 500

// Reconcile compares a tenant's index with Cognee. What the index has and Cognee lacks is queued for the Loop; what
// Cognee has and the index lacks is forgotten. Only rows that are named as ours count, in the tenant's datasets. It holds
// the names of all documents in memory: about 200 bytes of each.
func Reconcile(ctx context.Context, s store.Cognee, c *Client, clientID string, dryRun bool) (Reconciled, error) {
	r := &reconciliation{
		store: s, client: c, clientID: clientID, found: map[string][]place{}, names: map[string]string{},
		report: Reconciled{DryRun: dryRun},
	}
	if !dryRun {
		if err := s.OpenCognee(ctx); err != nil {
			return r.report, err
		}
	}
	start, err := s.CogneeIndex(ctx, "", 1) // for the database's clock, before Cognee is listed
	if err != nil {
		return r.report, err
	}
	if err := r.list(ctx); err != nil {
		return r.report, fmt.Errorf("list what Cognee has: %w", err)
	}
	queue, extra, err := r.compare(ctx)
	if err != nil {
		return r.report, fmt.Errorf("list the index: %w", err)
	}
	gone, err := r.gone(ctx)
	if err != nil {
		return r.report, fmt.Errorf("list the index: %w", err)
	}
	extra = append(extra, gone...)
	if dryRun {
		r.report.Queued, r.report.Forgotten = len(queue), len(extra)
		return r.report, nil
	}
	for batch := range slices.Chunk(queue, requeueBatch) {
		n, err := s.RequeueCognee(ctx, batch, start.Now)
		if err != nil {
			return r.report, fmt.Errorf("queue documents: %w", err)
		}
		r.report.Queued += n
	}
	for _, at := range extra {
		if err := c.Forget(ctx, at.dataset, at.data); err != nil {
			return r.report, fmt.Errorf("forget a row of dataset %s: %w", r.names[at.dataset], err)
		}
		r.report.Forgotten++
	}
	return r.report, nil
}

// list reads the rows of the tenant's datasets.
func (r *reconciliation) list(ctx context.Context) error {
	all, err := r.client.Datasets(ctx)
	if err != nil {
		return err
	}
	for _, d := range all {
		if !ofTenant(r.clientID, d.Name) {
			continue
		}
		r.names[d.ID] = d.Name
		for item, err := range r.client.Items(ctx, d.ID) {
			if err != nil {
				return err
			}
			id, ours := documentOf(item.Name)
			at := place{item.ID, d.ID}
			switch {
			case !ours:
				r.report.Foreign++
			case !slices.Contains(r.found[id], at): // a row may come twice
				r.found[id] = append(r.found[id], at)
				r.report.InCognee++
			}
		}
	}
	return nil
}

// compare goes through the index. It returns what is to be queued, and rows that a document has too many. What is left
// in found is not in the index.
func (r *reconciliation) compare(ctx context.Context) (queue []store.CogneeItem, extra []place, err error) {
	for after := ""; ; {
		page, err := r.store.CogneeIndex(ctx, after, 1000)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range page.Documents {
			after = e.DocumentID
			r.report.InIndex++
			kept, others := r.choose(e)
			extra = append(extra, others...)
			delete(r.found, e.DocumentID)
			switch {
			case e.Status == "pending":
				r.report.Waiting++
			case kept == (place{}), e.Status == "", e.DataID != kept.data, e.Status == "sent" && e.Sent != e.Version:
				queue = append(queue, store.CogneeItem{
					DocumentID: e.DocumentID, DataID: kept.data, DatasetID: kept.dataset,
				})
			}
		}
		if len(page.Documents) < 1000 {
			return queue, extra, nil
		}
	}
}

// choose returns the row that is a document's, and its other rows: copies, and those in other datasets.
func (r *reconciliation) choose(e store.CogneeEntry) (kept place, others []place) {
	for _, at := range r.found[e.DocumentID] {
		switch right := r.names[at.dataset] == DatasetName(r.clientID, e.DocumentSet); {
		case right && (kept == (place{}) || at.data == e.DataID):
			if kept != (place{}) {
				others = append(others, kept)
			}
			kept = at
		default:
			others = append(others, at)
		}
	}
	return kept, others
}

// gone returns the rows of documents that are not in the index, asked again: one may have become active meanwhile.
func (r *reconciliation) gone(ctx context.Context) (rows []place, err error) {
	ids := make([]string, 0, len(r.found))
	for id := range r.found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for batch := range slices.Chunk(ids, 1000) {
		gone, err := r.store.CogneeGone(ctx, batch)
		if err != nil {
			return nil, err
		}
		for _, id := range gone {
			rows = append(rows, r.found[id]...)
		}
	}
	return rows, nil
}
