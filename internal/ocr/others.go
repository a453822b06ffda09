package ocr

import (
	"cmp"
	"fmt"
	"strings"
)

// Others counts the pages of a document that another engine than the configured one read.
type Others struct {
	pages          int
	engine, reason string
}

// Count counts a page if another engine read it.
func (o *Others) Count(p Page) {
	if p.Engine == "" {
		return
	}
	o.pages++
	if o.engine = p.Engine; o.reason == "" || strings.Contains(p.Reason, ErrTokens.Error()) { // that names what to do
		o.reason = cmp.Or(p.Reason, "the model could not")
	}
}

// Warnings says how many of a document's pages they are, and why; nil: none.
func (o *Others) Warnings(of int) []string {
	if o.pages == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d pages were read by %s (%s)", o.pages, of, o.engine, o.reason)}
}
