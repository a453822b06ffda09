// Package derived writes the text that was read from a document, page by page, as Markdown, plain text, hOCR or
// JSON. It holds only the current block in memory.
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

// Format is a format of derived documents.
type Format string

// The formats.
const (
	Markdown Format = "markdown" // each page begins with the comment <!-- page N -->
	Text     Format = "text"     // each page ends with a form feed, as in pdftotext and tesseract
	HOCR     Format = "hocr"     // hOCR 1.2, well-formed as XML
	JSON     Format = "json"     // see jsonDocument
)

// Formats lists the formats, the default first.
func Formats() []Format { return []Format{Markdown, Text, HOCR, JSON} }

// Known reports whether the format exists.
func (f Format) Known() bool { return slices.Contains(Formats(), f) }

// Extension returns the file name extension, with its dot.
func (f Format) Extension() string {
	return map[Format]string{Markdown: ".md", Text: ".txt", HOCR: ".hocr", JSON: ".json"}[f]
}

// ContentType returns the media type.
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
	Engine       string         // that read it, for example "tesseract", or the extractor
	Version      string         // of the engine; empty: unknown
	Languages    []string       // that were read; empty: any
	Abilities    ocr.Abilities  // of the engine
}

// Page is one page. A document without pages is page 1.
type Page struct {
	Number        int
	Width, Height int     // of its image in pixels; zero: no image
	DPI           int     // of its image
	Turned        int     // clockwise rotation before it was read, in degrees
	Confidence    float64 // mean, 0-1; see Abilities
	Letters       int     // letters read; zero: Confidence is meaningless
	Engine        string  // that read it, if not Head.Engine
	Markdown      string  // as returned by the engine; empty: made of the blocks
	Unread        string  // why it could not be read; empty: it was read
}

// Block is a block of a page.
type Block struct {
	extract.Block
	Words ocr.Paragraph // lines of words; empty: only the text is known
}

// Tail is what is known after the last page.
type Tail struct {
	Pages          int
	MeanConfidence *float64 // nil: unknown
	Unread         []int
}

// Writer writes one document: pages in order, each followed by its blocks, then Close.
type Writer interface {
	Page(p Page) error
	Block(b Block) error
	// Close ends the document. It does not close the underlying writer.
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

// output is a writer that keeps its first error, as bufio.Writer does.
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

// lines returns the lines of a block: as on the page if their words are known.
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

// text returns the block's text; a table has a line per row, with tabs between cells.
func (b Block) text() string {
	if b.Table == nil {
		if b.Kind == extract.ListItem && b.Marker != "" {
			return b.Marker + " " + b.Text
		}
		return b.Text
	}
	rows := b.Table.Rows
	if b.Table.Continued { // its header was written before
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
