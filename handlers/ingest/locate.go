package ingest

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func (h *Handler) fetcher() source.Fetcher {
	return source.Fetcher{Bucket: h.deps.Bucket, Web: h.deps.Web}
}

// locate completes a payload: the address of a blob becomes the blob, and a document gets a name. It is needed before
// the document is fetched, as only then it can be taken: it is the name that the set's document of this address has; for
// a new one the server is asked, and the answer is kept for the next attempt.
func (h *Handler) locate(ctx context.Context, notes *handlers.Notes, p *Payload) (err error) {
	if p.place, err = handlers.Locate(h.fetcher(), p.place, &p.Filename, &p.Blob); err != nil || p.Filename != "" {
		return err
	}
	p.derived = true
	note := notes.Note(noteName)
	if note.Load(&p.Filename) && p.Filename != "" {
		return nil
	}
	if h.deps.Sources == nil {
		return taskerr.Errorf(taskerr.ValidationError, "payload.filename is missing; name the document")
	}
	if p.Filename, err = h.deps.Sources.DocumentAt(ctx, p.DocumentSet, p.Blob); err != nil {
		return fmt.Errorf("look for the document of the address: %w", err)
	}
	if p.Filename == "" {
		if p.Filename, err = h.fetcher().Name(ctx, p.place); err != nil {
			return err
		}
	}
	note.Save(p.Filename)
	return nil
}
