package summarize

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// document is the text of a document. Its passages are the chunks of an ingest, with the same keys, so that citations
// refer to the index.
type document struct {
	passages []passage
	tokens   int // of all passages
	title    string
	language string // enrich.Unknown if not detected
	sha256   string // of the bytes
	info     extract.Info
	warnings []string
	whole    *whole
}

// passage is a piece of the text that can be cited.
type passage struct {
	text    string
	heading []string // from the top heading down
	pages   []int
	key     string // the chunk's
	hash    string // of heading and text, which the model reads
	tokens  int
	// the level of the heading at its start, else loose: the bond with the passage before
	bond    int
	opening uint64 // hash of its heading, or of its start
}

// read fetches the document and reads it like an ingest: by the same extractors with what they have kept, and through
// the same privacy filter. Nothing after the filter sees what it hides.
func (w *work) read(ctx context.Context) (d document, err error) {
	progress := w.call.Progress
	if err := progress.Stage(stageFetching); err != nil {
		return d, err
	}
	fetcher := source.Fetcher{Bucket: w.deps.Bucket, Web: w.deps.Web}
	p := &w.payload
	if p.place, err = handlers.Locate(fetcher, p.place, &p.Filename, &p.Blob); err != nil {
		return d, err
	}
	file, err := fetcher.Fetch(ctx, p.place, source.Options{
		TempDir: w.deps.TempDir, Bytes: w.deps.Limits.Bytes,
		Progress: func(fraction float64) { progress.Report(fraction, "") },
	})
	if err != nil {
		return d, err
	}
	defer file.Remove()
	if err := progress.Stage(stageParsing); err != nil {
		return d, err
	}
	p.Filename = cmp.Or(p.Filename, file.Name)
	src, err := extract.Open(file.Path, file.Hint(p.Filename))
	if err != nil {
		return d, err
	}
	src.TempDir, src.SHA256 = file.Dir, file.SHA256
	src.Memory = handlers.NewNotes(w.call).Note(noteExtractor)
	d.sha256, d.whole = file.SHA256, &whole{}
	if err := w.parse(ctx, src, &d); err != nil {
		return d, err
	}
	if len(d.passages) == 0 {
		return d, noText(d)
	}
	return d, nil
}

// noText is the error of a document without text. Pages that OCR could not read are a matter of the worker.
func noText(d document) error {
	const code = "SUMMARIZE_NO_TEXT"
	if reason := d.info.Properties["unread_reason"]; reason != "" {
		return &taskerr.Error{
			Class: taskerr.ContentMissing, Code: code,
			Message: "the document has no text to summarize: its pages are images, and could not be read by OCR (" + reason + ")",
			Hint: "mend the worker's OCR, for the reason that is named (async-worker doctor looks at it), then restart the " +
				"worker, and send the task again with hints.force",
		}
	}
	return &taskerr.Error{Class: taskerr.ContentMissing, Code: code, Message: "the document has no text to summarize"}
}

// parse streams the document from the extractor through the privacy filter into passages.
func (w *work) parse(ctx context.Context, src extract.Source, d *document) error {
	collector := enrich.NewCollector()
	chunker := chunk.New(chunk.Config{
		Counter: w.deps.Chunks, Model: w.deps.EmbeddingModel, Dimensions: w.deps.EmbeddingDimensions,
	}, func(c chunk.Chunk) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		collector.Chunk(c)
		return w.keep(d, c)
	})
	guarded := w.deps.Privacy.Document(func(b extract.Block) error {
		collector.Block(b)
		return chunker.Add(b)
	})
	pages := handlers.NewPageProgress(w.call.Progress)
	src.Pages = pages.Total
	info, err := w.deps.Extractor.Extract(ctx, src, w.deps.Limits, func(b extract.Block) error {
		pages.Page(b.Page)
		return guarded.Block(ctx, b)
	})
	if err != nil {
		return err
	}
	pages.End(info.Pages)
	if err := guarded.Flush(ctx); err != nil {
		return err
	}
	if d.info, err = guarded.Info(ctx, info); err != nil {
		return err
	}
	if err := chunker.Close(); err != nil {
		return err
	}
	found := collector.Finish(d.info)
	d.title, d.language = found.Title, found.Language.Code
	d.warnings = slices.Clone(d.info.Warnings)
	if missed := guarded.Missed(); missed != nil {
		d.warnings = append(d.warnings, "personal data were not looked for in all of the text: "+
			taskerr.Classify(missed).Message)
	}
	if p := d.info.Properties; p["unread_pages"] != "" {
		d.warnings = append(d.warnings, fmt.Sprintf(
			"%s of %d pages could not be read by OCR (%s) and are not in the summary: page %s",
			p["unread_pages"], d.info.Pages, p["unread_reason"], p["unread_list"]))
	}
	return nil
}

// keep adds the next passage. A document with more tokens than the task may use is not read to its end.
func (w *work) keep(d *document, c chunk.Chunk) error {
	if d.tokens += c.Tokens; w.deps.MaxTokens > 0 && d.tokens > w.deps.MaxTokens {
		return tooExpensive("the document has more than %d tokens", w.deps.MaxTokens)
	}
	p := passage{
		text: strings.TrimSpace(c.Content), heading: c.HeadingPath, pages: c.Pages, key: c.Key, tokens: c.Tokens,
		bond: loose,
	}
	p.hash = hashOf(append([]string{p.text}, p.heading...)...)
	begins, _, _ := strings.Cut(p.text, "\n")
	if level := headingLevel(begins); level > 0 && c.Headings > 0 {
		p.bond = level
	} else if len(begins) > openingBytes {
		begins = begins[:openingBytes]
	}
	p.opening = place(begins)
	d.passages = append(d.passages, p)
	return nil
}

// headingLevel returns the level of a heading in Markdown; zero: the line is not a heading.
func headingLevel(line string) int {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > loose-1 || !strings.HasPrefix(line[level:], " ") {
		return 0
	}
	return level
}

// hashOf returns 128 bits of the SHA-256 of texts, each prefixed with its length.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d\x00%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
