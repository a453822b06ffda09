// Package derived writes what was read of a document, page by page, as the document that is derived of it:
// Markdown, plain text, hOCR or JSON. Nothing but the block at hand is kept in memory.
package derived

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Format is a kind of derived document.
type Format string

// The formats.
const (
	Markdown Format = "markdown" // each page begins with the comment <!-- page N -->
	Text     Format = "text"     // each page ends with a form feed, as from pdftotext and tesseract
	HOCR     Format = "hocr"     // hOCR 1.2, well-formed as XML
	JSON     Format = "json"     // see jsonDocument
)

// Formats lists them, the default first.
func Formats() []Format { return []Format{Markdown, Text, HOCR, JSON} }

// Known reports whether there is such a format.
func (f Format) Known() bool { return slices.Contains(Formats(), f) }

// Extension is that of a file's name, with its dot.
func (f Format) Extension() string {
	return map[Format]string{Markdown: ".md", Text: ".txt", HOCR: ".hocr", JSON: ".json"}[f]
}

// ContentType is the media type.
func (f Format) ContentType() string {
	return map[Format]string{
		Markdown: "text/markdown; charset=utf-8", Text: "text/plain; charset=utf-8",
		HOCR: "text/vnd.hocr+html; charset=utf-8", JSON: "application/json",
	}[f]
}

// Head is what is known before the first page.
type Head struct {
	Filename     string         // of the source
	SourceFormat extract.Format // of the source
	Engine       string         // that read it, e.g. "tesseract", or the extractor
	Version      string         // of the engine; empty: unknown
	Languages    []string       // that were read; none: any
	Abilities    ocr.Abilities  // of the engine
}

// Page is one page. Of a document that has none, everything is page 1.
type Page struct {
	Number        int
	Width, Height int     // of its image in pixels; zero: there was none
	DPI           int     // of its image
	Turned        int     // degrees clockwise by which it was turned to be read
	Confidence    float64 // mean, 0-1; see Abilities
	Letters       int     // that were read; zero: Confidence means nothing
	Engine        string  // that read it, when not Head.Engine
	Markdown      string  // as the engine gave it; empty: made of the blocks
	Unread        string  // why it could not be read; empty: it could
}

// Block is a block of a page.
type Block struct {
	extract.Block
	Words ocr.Paragraph // lines of words; none: only the text is known
}

// Tail is what is known after the last page.
type Tail struct {
	Pages          int
	MeanConfidence *float64 // nil: unknown
	Unread         []int
}

// Writer writes one document: pages in order, each with its blocks, then Close.
type Writer interface {
	Page(p Page) error
	Block(b Block) error
	// Close ends the document. It does not close the writer below.
	Close(t Tail) error
}

// NewWriter returns a Writer of a known format.
func NewWriter(w io.Writer, f Format, h Head) Writer {
	out := &output{w: bufio.NewWriterSize(w, 64<<10)}
	switch f {
	case Text:
		return &textWriter{out: out}
	case HOCR:
		return newHOCR(out, h)
	case JSON:
		return newJSON(out, h)
	default:
		return &markdownWriter{out: out}
	}
}

// output is a writer that keeps its first error (as bufio.Writer does) for whoever asks.
type output struct{ w *bufio.Writer }

func (o *output) put(parts ...string) {
	for _, p := range parts {
		_, _ = o.w.WriteString(p)
	}
}

// Write implements io.Writer.
func (o *output) Write(b []byte) (int, error) { return o.w.Write(b) }

func (o *output) err() error {
	if _, err := o.w.Write(nil); err != nil {
		return fmt.Errorf("write the derived document: %w", err)
	}
	return nil
}

func (o *output) flush() error {
	if err := o.w.Flush(); err != nil {
		return fmt.Errorf("write the derived document: %w", err)
	}
	return nil
}

// lines are the lines of a block: as they stand on the page when their words are known.
func (b Block) lines() []ocr.Line {
	if len(b.Words) > 0 {
		return b.Words
	}
	var lines []ocr.Line
	for text := range strings.SplitSeq(b.text(), "\n") {
		var line ocr.Line
		for word := range strings.FieldsSeq(text) {
			line = append(line, ocr.Word{Text: word})
		}
		if len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// text is the block's text; a table's has a line for each row, with tabs between its cells.
func (b Block) text() string {
	if b.Table == nil {
		if b.Kind == extract.ListItem && b.Marker != "" {
			return b.Marker + " " + b.Text
		}
		return b.Text
	}
	rows := b.Table.Rows
	if b.Table.Continued { // its header stands above already
		rows = rows[min(b.Table.Headers, len(rows)):]
	}
	var all strings.Builder
	for i, row := range rows {
		if i > 0 {
			all.WriteByte('\n')
		}
		for j, cell := range row {
			if j > 0 {
				all.WriteByte('\t')
			}
			all.WriteString(strings.Join(strings.Fields(cell.Text), " "))
		}
	}
	return all.String()
}
