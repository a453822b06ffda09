package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// warnings lists, for the sender, the parts of the document that can't be found, and why.
func (w *work) warnings() []string {
	all := w.lacks()
	if w.replacesAnother() {
		all = slices.Insert(all, 0,
			"it replaces the document of this name that came from another address; to keep both, give each a filename")
	}
	return all
}

// lacks lists what is missing in the version, and why; it is kept with it.
func (w *work) lacks() []string {
	all := slices.DeleteFunc(slices.Clone(w.info.Warnings), func(said string) bool {
		return said == extract.NoText // what follows says more
	})
	unread := w.info.Unread()
	if unread != "" {
		all = append(all, unread)
	}
	if said := w.prospect(); said != "" {
		all = append(all, said)
	}
	if missed := w.enrich.warning(); missed != "" {
		all = append(all, missed)
	}
	all = append(all, w.contexts.ledger.warnings()...)
	switch {
	case w.chunks > 0:
	case unread != "": // the pages may have text
		all = append(all, "nothing of the document can be found")
	case w.info.Pages > 0:
		all = append(all, fmt.Sprintf("the document has no text on any of its %d pages; nothing of it can be found",
			w.info.Pages))
	default:
		all = append(all, "the document has no text; nothing of it can be found")
	}
	return all
}

// replacesAnother reports whether a document whose name its server gave takes the place of one from elsewhere. A signature
// in the query may change.
func (w *work) replacesAnother() bool {
	if !w.payload.derived || w.staged.Active == nil {
		return false
	}
	before, _, _ := strings.Cut(w.staged.Active.Blob, "?")
	now, _, _ := strings.Cut(w.payload.Blob, "?")
	return before != now
}
