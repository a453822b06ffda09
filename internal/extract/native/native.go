// Package native assembles the extractors that need no service.
package native

import (
	"maps"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/csv"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/docx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/embedded"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/eml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/epub"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/html"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/mbox"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/msg"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/odf"
	pdffile "github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/rtf"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/soffice"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/text"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/xlsx"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/xml"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/zip"
)

// Extractors returns the extractor of each format. pdf and image read their formats; nil omits the format.
// Messages read their attachments with the others.
func Extractors(pdf, image extract.Extractor) map[extract.Format]extract.Extractor {
	all := map[extract.Format]extract.Extractor{
		extract.DOCX:     docx.New(imported()),
		extract.PPTX:     pptx.New(),
		extract.XLSX:     xlsx.New(),
		extract.HTML:     html.New(),
		extract.Markdown: markdown.New(),
		extract.CSV:      csv.New(),
		extract.RTF:      rtf.New(),
		extract.EPUB:     epub.New(),
		extract.Text:     text.New(),
		extract.ODF:      odf.New(),
	}
	if image != nil {
		all[extract.Image] = image
	}
	files := nested.NewAll(all)
	if pdf != nil {
		all[extract.PDF] = pdffile.WithFiles(pdf, files)
	}
	maps.Copy(all, soffice.Extractors(files))
	for _, f := range []extract.Format{extract.DOCX, extract.PPTX, extract.XLSX, extract.ODF} {
		all[f] = embedded.With(all[f], files)
	}
	all[extract.XML] = xml.New(files)
	all[extract.EML] = eml.New(files)
	all[extract.MSG] = msg.New(files)
	all[extract.MBOX] = mbox.New(files)
	all[extract.Zip] = zip.New(files)
	return all
}

// imported returns what reads the documents that Word documents import.
func imported() extract.Runner {
	return extract.NewRouter(map[extract.Format]extract.Extractor{
		extract.HTML: html.New(), extract.RTF: rtf.New(), extract.Text: text.New(), extract.DOCX: docx.New(nil),
	})
}
