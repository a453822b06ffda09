package ingest

import (
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// unchanged is the result of a task that left its document alone: that of an unchanged document, with its version, which the
// store adds to the results of others.
type unchanged struct {
	Result
	Version int `json:"version"` // the active one
}

// superseded returns the outcome of an ingest or a removal that came back after a later task on its document had ended. It
// writes, removes and asks nothing: an older file or an older wish must not take the place of a newer one.
func (h *Handler) superseded(c handlers.Call, p Payload, staged store.StagedVersion) (handlers.Outcome, error) {
	if err := c.Progress.Stage(stageFinalizing); err != nil {
		return handlers.Outcome{}, err
	}
	out := unchanged{Result: Result{
		DocumentID: staged.DocumentID, DocumentSet: p.DocumentSet, Filename: p.Filename, Unchanged: true,
		Warnings: []string{fmt.Sprintf("nothing was done: job %s, whose task was sent later, ended before this one, and its "+
			"document stays; to do this task all the same, send it again under another task_id", staged.SupersededBy)},
	}}
	if a := staged.Active; a != nil {
		out.Version, out.Pages, out.Chunks, out.Reused = a.Version, a.Pages, a.Chunks, a.Chunks
		out.Characters, out.Extractor, out.ContentSHA256, out.Contexts = a.Characters, a.Extractor, a.ContentSHA256, a.Contexts
	}
	return handlers.Outcome{Result: out, Unused: slices.DeleteFunc(h.Spec().Needs, func(d taskerr.Dependency) bool {
		return d == taskerr.Database
	})}, nil
}
