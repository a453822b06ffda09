package convert

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/deck/pptx"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxCharacters is the text of a document that becomes a deck: more than a thousand slides.
const maxCharacters = 2_000_000

// read makes the deck of the document, with its pictures in the folder w.media.
func (w *work) read(ctx context.Context) (*deck.Deck, error) {
	w.media = filepath.Join(w.file.Dir, "media")
	if err := os.Mkdir(w.media, 0o700); err != nil {
		return nil, source.NoRoom(err)
	}
	if w.source.Format == extract.PPTX {
		return w.presentation(ctx)
	}
	return w.document(ctx)
}

// presentation reads a PPTX file as it is.
func (w *work) presentation(ctx context.Context) (*deck.Deck, error) {
	w.unused = w.documentsNeed()
	d, warnings, err := pptx.Read(ctx, w.file.Path, pptx.ReadOptions{
		Limits: w.deps.Limits, Name: w.payload.Filename, Folder: w.media,
		Progress: func(done, total int) error {
			w.call.Progress.Pages(done, total)
			w.call.Progress.Report(float64(done)/float64(total), "")
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if len(d.Slides) == 0 {
		return nil, noContent("the presentation has no slides")
	}
	w.warnings = append(w.warnings, warnings...)
	d.Source.SHA256 = w.file.SHA256
	return d, w.call.Progress.Stage(stageNormalizing)
}

// documentsNeed are the services that presentations don't need.
func (h *Handler) documentsNeed() (needs []taskerr.Dependency) {
	if d := h.deps.ExtractorNeeds; d != "" {
		needs = append(needs, d)
	}
	if h.deps.Chat == nil {
		return needs
	}
	if needs = append(needs, taskerr.Chat); h.redacts() {
		needs = append(needs, taskerr.Privacy)
	}
	return needs
}

// redacts reports whether personal data are hidden from the model, and so from the deck that it writes.
func (h *Handler) redacts() bool {
	return h.deps.Chat != nil && h.deps.Privacy.Mode() == privacy.Redact
}

func noContent(message string) *taskerr.Error {
	return &taskerr.Error{Class: taskerr.ContentMissing, Code: "CONVERT_NO_CONTENT", Message: message}
}

// document reads any other document, and makes slides along its structure.
func (w *work) document(ctx context.Context) (*deck.Deck, error) {
	doc, err := w.extracted(ctx)
	if err != nil {
		return nil, err
	}
	found, err := w.pictures(ctx, doc.Info)
	if err != nil {
		return nil, err
	}
	if len(doc.Blocks) == 0 && len(found) == 0 {
		return nil, noText(doc.Info)
	}
	w.warnings = append(w.warnings, lacks(doc.Info)...)
	if err := w.call.Progress.Stage(stageNormalizing); err != nil {
		return nil, err
	}
	o := compose.Options{Filename: w.payload.Filename, SHA256: w.file.SHA256}
	if w.deps.Chat != nil {
		if o.Pages, err = w.written(ctx, compose.Parts(doc, o)); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(o.Pages, func(p []compose.Page) bool { return len(p) > 0 }) {
			o.Method, w.model = "model", w.deps.Chat.Model()
		}
	}
	d, err := compose.Document(ctx, doc, found, o)
	if err != nil {
		return nil, err
	}
	if len(d.Slides) > deck.MaxSlides {
		return nil, taskerr.Errorf(taskerr.QuotaExceeded,
			"the document would become more than %d slides: split it into smaller files", deck.MaxSlides)
	}
	return d, d.Check() // an export of it checks the same
}

// extracted reads the text of the document.
func (w *work) extracted(ctx context.Context) (*extract.Document, error) {
	doc := &extract.Document{}
	limits := w.deps.Limits
	limits.Characters = maxCharacters
	pages := handlers.NewPageProgress(w.call.Progress)
	src := w.source
	src.Pages = pages.Total
	var filter *privacy.Filter // none
	if w.redacts() {
		filter = w.deps.Privacy
	}
	cells := 0 // as many as the deck has at least
	guarded := filter.Document(func(b extract.Block) error {
		if cells += cellsOf(b.Table); cells > deck.MaxElements {
			return taskerr.Errorf(taskerr.QuotaExceeded,
				"the tables of the document have more than %d cells, which is more than a deck may have: split it into smaller files",
				deck.MaxElements)
		}
		doc.Blocks = append(doc.Blocks, b)
		return nil
	})
	info, err := w.deps.Extractor.Extract(ctx, src, limits, func(b extract.Block) error {
		pages.Page(b.Page)
		return guarded.Block(ctx, b)
	})
	if err == nil {
		err = guarded.Flush(ctx)
	}
	if err == nil {
		doc.Info, err = guarded.Info(ctx, info)
	}
	if err != nil {
		return nil, err
	}
	pages.End(doc.Pages)
	return doc, w.part(ctx, doc.Info)
}

// part returns an error if another attempt may read more of a document that was read in part.
func (w *work) part(ctx context.Context, info extract.Info) error {
	if !handlers.PartAgain(ctx, w.call, info, w.notes.Note(noteExtractor)) {
		return nil
	}
	failure := taskerr.Errorf(taskerr.TransientStorage, "only a part of the document could be read to make slides of it (%s)",
		strings.Join(lacks(info), "; "))
	failure.Hint = "the machine or docling-serve may be overloaded: lower WORKER_CONCURRENCY, or raise STEP_TIMEOUT_SEC"
	return failure
}

// lacks are sentences about what the slides don't have of a document.
func lacks(info extract.Info) []string {
	all := slices.Clone(info.Warnings)
	if unread := info.Unread(); unread != "" {
		all = append(all, unread)
	}
	return all
}

// cellsOf counts the cells of a table or of its slice, whose repeated header does not count; nil has none.
func cellsOf(t *extract.Table) (n int) {
	if t == nil {
		return 0
	}
	rows := t.Rows
	if t.Continued {
		rows = rows[min(t.Headers, len(rows)):]
	}
	for _, row := range rows {
		n += len(row)
	}
	return n
}

// noText is the error of a document without text. Pages that OCR could not read are a matter of the worker.
func noText(info extract.Info) error {
	if reason := info.Properties["unread_reason"]; reason != "" {
		return noContent("the document has no text to make slides of: its pages are images, and could not be read by OCR (" +
			reason + ")").WithHint("mend the worker's OCR, for the reason that is named (async-worker doctor looks at it), " +
			"then restart the worker, and send the task again with hints.force")
	}
	return noContent("the document has no text to make slides of")
}
