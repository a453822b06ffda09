// Package docling extracts documents with docling-serve: it sends the file and makes blocks of the resulting
// DoclingDocument.
package docling

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Name is the extractor's name in results.
const Name = "docling"

// formats maps the formats that are sent to docling-serve to the extension by which it recognizes them. Its
// other formats (e-mail, EPUB, OpenDocument, legacy Office through LibreOffice) are read natively or not at
// all, because attachments and the like would be lost. An image's extension follows from its content.
var formats = map[extract.Format]string{
	extract.PDF: ".pdf", extract.DOCX: ".docx", extract.PPTX: ".pptx", extract.XLSX: ".xlsx",
	extract.HTML: ".html", extract.Markdown: ".md", extract.CSV: ".csv", extract.Image: "",
}

// Formats lists the formats that Extractor supports, sorted.
func Formats() []extract.Format {
	all := make([]extract.Format, 0, len(formats))
	for f := range formats {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}

// Converter is the part of docling.Client that Extractor uses.
type Converter interface {
	Convert(ctx context.Context, q docling.Request, memory docling.Memory, shelf docling.Shelf) (*docling.Result, error)
}

// Extractor is an extract.Extractor. It is safe for concurrent use.
type Extractor struct {
	client Converter
	shelf  docling.Shelf
}

// New returns an Extractor. shelf keeps results from one task to the next; nil: they are not kept.
func New(client Converter, shelf docling.Shelf) *Extractor { return &Extractor{client, shelf} }

// Name returns Name.
func (*Extractor) Name() string { return Name }

// Version increases when the same DoclingDocument would produce other blocks, or when other options are sent.
func (*Extractor) Version() int { return 2 }

// Extract converts the file and emits its blocks. Info.Incomplete and Info.Warnings report a document that Docling could
// convert only in part. In addition to the errors of docling.Client.Convert there is quota_exceeded for a document of
// too many pages.
func (x *Extractor) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	q, err := request(ctx, src)
	if err != nil {
		return extract.Info{}, err
	}
	var memory docling.Memory
	if src.Memory != nil {
		memory = src.Memory
	}
	result, err := x.client.Convert(ctx, q, memory, x.shelf)
	if err != nil {
		return extract.Info{}, err
	}
	doc := result.Document
	if err := checkPages(doc, limits.Pages); err != nil {
		return extract.Info{}, err
	}
	info := extract.Info{Extractor: Name, Pages: pages(doc), Warnings: warnings(result), Incomplete: result.Status == docling.PartialSuccess}
	src.HasPages(info.Pages)
	if !result.Kept {
		info.Service = taskerr.Docling
	}
	w := newWalk(doc, emit)
	w.whole = src.Whole
	if err := w.children(&doc.Body, scope{}); err != nil {
		return extract.Info{}, err
	}
	return info, nil
}

// checkPages refuses a document of too many pages, and one in which a page has too high a number: lists of pages are as long
// as the highest number. A number below 1 means that there is no page.
func checkPages(doc *docling.Document, most int) error {
	if n := len(doc.Pages); n > most {
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"the document has %d pages, more than the %d that are read: split it into smaller files", n, most)
	}
	last := pages(doc)
	for _, items := range doc.Items {
		for i := range items {
			for _, at := range items[i].Places {
				last = max(last, at.Page)
			}
		}
	}
	if last > most {
		return taskerr.Errorf(taskerr.QuotaExceeded, "docling-serve has found a page %d, and %d pages are read: split the document "+
			"into smaller files; if it has no such page, check the server's version, see docs/docling.md", last, most)
	}
	return nil
}

// request describes the conversion. The file's own name is not sent, because the server would log it.
func request(ctx context.Context, src extract.Source) (docling.Request, error) {
	file, err := os.Open(src.Path)
	if err != nil {
		return docling.Request{}, fmt.Errorf("docling: open the document: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	q := docling.Request{Path: src.Path, SHA256: src.SHA256, Fresh: src.Fresh, Options: options(ctx)}
	if q.SHA256 == "" {
		sum := sha256.New()
		if _, err := io.Copy(sum, file); err != nil {
			return docling.Request{}, fmt.Errorf("docling: read the document: %w", err)
		}
		q.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	ending, ok := formats[src.Format]
	if !ok {
		return docling.Request{}, taskerr.Errorf(taskerr.UnsupportedFormat,
			"the worker does not send files of the format %s to docling", src.Format)
	}
	if src.Format == extract.Image {
		head := make([]byte, 512)
		n, err := file.ReadAt(head, 0)
		if err != nil && n == 0 {
			return docling.Request{}, fmt.Errorf("docling: read the document: %w", err)
		}
		ending = imageEnding(head[:n])
	}
	q.Name = "document" + ending
	return q, nil
}

func imageEnding(head []byte) string {
	switch http.DetectContentType(head) {
	case "image/png":
		return ".png"
	case "image/bmp":
		return ".bmp"
	case "image/webp":
		return ".webp"
	case "image/gif":
		return ".gif"
	}
	if s := string(head); strings.HasPrefix(s, "II*\x00") || strings.HasPrefix(s, "MM\x00*") {
		return ".tiff"
	}
	return ".jpg"
}

// options returns the options sent with each document. Images are omitted from the result, and headings get
// their level; a server before 1.30 doesn't know the latter and ignores it.
func options(ctx context.Context) []docling.Field {
	all := []docling.Field{
		{Name: "target_type", Value: "inbody"},
		{Name: "to_formats", Value: "json"},
		{Name: "image_export_mode", Value: "placeholder"},
		{Name: "include_images", Value: "false"},
		{Name: "do_ocr", Value: "true"},
		{Name: "do_pdf_heading_hierarchy", Value: "true"},
	}
	if deadline, ok := ctx.Deadline(); ok {
		all = append(all, docling.Field{Name: "document_timeout", Value: strconv.Itoa(seconds(time.Until(deadline)))})
	}
	return all
}

// seconds returns how long Docling may work on a document when the task has this much time left. The rest is
// for the server's queue and for the work afterwards.
func seconds(left time.Duration) int {
	return max(1, int(min(0.8*left.Seconds(), math.MaxInt32)))
}

// pages returns the number of the last page.
func pages(doc *docling.Document) int {
	last := 0
	for n := range doc.Pages {
		last = max(last, n)
	}
	return last
}

// warnings lists what is missing of a partially converted document.
func warnings(r *docling.Result) []string {
	if r.Status != docling.PartialSuccess {
		return nil
	}
	missing := map[int]bool{}
	for n := 1; n < pages(r.Document); n++ {
		if _, there := r.Document.Pages[n]; !there {
			missing[n] = true
		}
	}
	var messages []string
	for _, e := range r.Errors {
		if e.Page > 0 {
			missing[e.Page] = true
		}
		if text := extract.Clean(oneLine(e.Message)); text != "" && len(messages) < 5 &&
			!slices.Contains(messages, text) {
			messages = append(messages, text)
		}
	}
	text := "docling could convert only a part of the document"
	if len(missing) > 0 {
		text += "; all or some is missing of page " + list(missing)
	}
	if len(messages) > 0 {
		text += " (" + strings.Join(messages, "; ") + ")"
	}
	return []string{text}
}

// Limits of a warning: pages, and characters of a message.
const (
	listedPages  = 50
	messageRunes = 200
)

func list(pages map[int]bool) string {
	sorted := make([]int, 0, len(pages))
	for n := range pages {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	var parts []string
	for i, n := range sorted {
		if i == listedPages {
			parts = append(parts, fmt.Sprintf("and %d more", len(sorted)-i))
			break
		}
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ", ")
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > messageRunes {
		return string(runes[:messageRunes]) + "…"
	}
	return text
}
