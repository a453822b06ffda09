// Package native assembles the extractors that need no service.
package native

import (
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/csv"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/html"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/text"
)

// Extractors returns the extractor of each format. pdf reads PDF; nil: that format is left out.
func Extractors(pdf extract.Extractor) map[extract.Format]extract.Extractor {
	all := map[extract.Format]extract.Extractor{
		extract.DOCX:     docx.New(),
		extract.PPTX:     pptx.New(),
		extract.HTML:     html.New(),
		extract.Markdown: markdown.New(),
		extract.CSV:      csv.New(),
		extract.Text:     text.New(),
		extract.ODF:      odf.New(),
	}
	if pdf != nil {
		all[extract.PDF] = pdf
	}
	return all
}
