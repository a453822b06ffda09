package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// missing submits a job for each document of the set whose blob is gone. That job looks for the blob once more, when no
// other works on the document.
func (s *spreading) missing(ctx context.Context) error {
	slices.Sort(s.seen)
	for after := ""; ; {
		page, err := s.deps.Sources.DocumentsUnder(ctx, store.UnderQuery{
			Holder: s.call.Holder, DocumentSet: s.payload.DocumentSet, Prefix: *s.payload.Prefix, After: after,
			Limit: store.MaxChildren,
		})
		if err != nil {
			return fmt.Errorf("ask for the documents of the prefix: %w", err)
		}
		gone, err := s.gone(ctx, page.Documents)
		if err != nil {
			return err
		}
		if len(gone) > 0 && s.out.Deletions == 0 {
			if err := s.refuseEmpty(ctx); err != nil {
				return err
			}
		}
		s.out.Deletions += len(gone)
		if err := s.submit(ctx, gone); err != nil {
			return err
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

// refuseEmpty is an error if nothing is in the container but what a worker wrote, unless the task is forced: rather than that somebody
// has removed every document, its disk is not mounted, or it was created again. The index would be deleted without
// a failure.
func (s *spreading) refuseEmpty(ctx context.Context) error {
	if s.out.Listed > 0 || s.call.Task.Hints.Force {
		return nil
	}
	for b, err := range s.deps.Bucket.List(ctx, "") {
		if err != nil {
			return fmt.Errorf("list the blobs: %w", err)
		}
		folder, _, _ := strings.Cut(b.Name, "/")
		if !slices.Contains(blob.WorkerFolders(), folder+"/") {
			return nil
		}
	}
	return taskerr.Errorf(taskerr.ContentMissing, "the tenant's container is empty, and delete_missing would delete "+
		"documents: is its disk mounted, was it deleted and created again? To delete them, send the task with hints.force")
}

// gone are the deletions of those documents whose blob is not there.
func (s *spreading) gone(ctx context.Context, documents []store.DocumentUnder) ([]child, error) {
	absent := make([]bool, len(documents))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(stats)
	for i, d := range documents {
		if d.Pending && !s.call.Task.Hints.Force {
			continue
		}
		_, listed := slices.BinarySearch(s.seen, maphash.String(s.seed, d.Blob))
		if listed || strings.Contains(d.Blob, "://") || blob.CheckName(d.Blob) != nil { // it was not made of a blob
			continue
		}
		group.Go(handlers.Safely(func() error {
			_, err := s.deps.Bucket.Stat(within, d.Blob)
			if absent[i] = errors.Is(err, blob.ErrNotFound); absent[i] {
				return nil
			}
			return err
		}))
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("look for the blobs of documents: %w", err)
	}
	var gone []child
	for i, d := range documents {
		if absent[i] || d.Submitted {
			gone = append(gone, child{d.Child, Payload{Filename: d.Filename, Blob: d.Blob, Delete: true}})
		}
	}
	return gone, nil
}
