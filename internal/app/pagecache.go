package app

import (
	"context"
	"log/slog"

	"github.com/seed-7227ef26/async-worker/internal/ocr/pages"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// pageCache keeps page readings in the tenant's store. It logs its failures; the pages are then read by OCR.
type pageCache struct {
	store store.Pages
	log   *slog.Logger
}

var _ pages.Cache = (*pageCache)(nil)

// Get implements pages.Cache.
func (c *pageCache) Get(ctx context.Context, source, reader string, first, count int) map[int][]byte {
	kept, err := c.store.PageResults(ctx, store.PageSource{
		Source: source, Reader: reader, JobID: task.IDFrom(ctx),
	}, first, count)
	if err != nil {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "can't look up pages that OCR has read before; reading them again", "error", err)
		}
		return nil
	}
	found := make(map[int][]byte, len(kept))
	for _, k := range kept {
		found[k.Page] = k.Reading
	}
	return found
}

// Put implements pages.Cache.
func (c *pageCache) Put(ctx context.Context, source, reader string, page int, reading []byte) {
	err := c.store.KeepPageResults(ctx, store.PageSource{
		Source: source, Reader: reader, JobID: task.IDFrom(ctx),
	}, []store.PageResult{{Page: page, Reading: reading}})
	if err != nil {
		c.log.WarnContext(ctx, "can't store what OCR has read of a page; another attempt will read it again", "error",
			err)
	}
}
