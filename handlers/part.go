package handlers

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// PartAgain reports whether a document was read in part only, and another attempt may read all of it. The last attempt
// takes what there is, as does one that may use no more tokens to read pages: so it is with the next. It empties the
// extractor's note, by which a service would give the same part again.
func PartAgain(ctx context.Context, c Call, info extract.Info, extractor *Note) bool {
	if !info.Incomplete || c.Last || ocr.Spent(ctx) {
		return false
	}
	extractor.Save(struct{}{})
	return true
}
