package extract

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// MarkdownWriter renders blocks as GitHub-flavored Markdown, one by one. Call Close at the end.
type MarkdownWriter struct {
	w       *bufio.Writer
	last    Kind // of the previous block; "" at the start
	columns int  // of the table that may continue
	base    int  // level of the list's outermost item: a deeper one than the margin would be code
}

// NewMarkdownWriter returns a MarkdownWriter to w.
func NewMarkdownWriter(w io.Writer) *MarkdownWriter {
	return &MarkdownWriter{w: bufio.NewWriter(w)}
}

// WriteMarkdown renders a whole document.
func WriteMarkdown(w io.Writer, doc *Document) error {
	m := NewMarkdownWriter(w)
	for _, b := range doc.Blocks {
		if err := m.Write(b); err != nil {
			return err
		}
	}
	return m.Close()
}

// Close flushes the buffer. It does not close the underlying writer.
func (m *MarkdownWriter) Close() error {
	if err := m.w.Flush(); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

// Write renders one block.
func (m *MarkdownWriter) Write(b Block) error {
	if b.Kind == TableKind && b.Table != nil && b.Table.Continued && m.last == TableKind {
		m.rows(cells(b.Table)[min(b.Table.Headers, len(b.Table.Rows)):])
		return m.err()
	}
	m.gap(b.Kind)
	if m.last != ListItem || b.Kind == ListItem && b.Level < m.base {
		m.base = b.Level
	}
	m.last = b.Kind
	switch b.Kind {
	case Heading:
		m.put(strings.Repeat("#", min(max(b.Level, 1), 6)), " ", oneLine(linked(b.Text, b.Links)), "\n")
	case ListItem:
		m.listItem(b)
	case Code:
		fence := fenceFor(b.Text)
		m.put(fence, "\n", b.Text, "\n", fence, "\n")
	case TableKind:
		m.table(b.Table)
	case Picture:
		if b.Text != "" {
			m.put(paragraph(b), "\n\n")
		}
		m.put("<!-- image -->\n")
	default:
		m.put(paragraph(b), "\n")
	}
	return m.err()
}

// gap writes a blank line between blocks, except within a list.
func (m *MarkdownWriter) gap(next Kind) {
	if m.last != "" && (m.last != ListItem || next != ListItem) {
		m.put("\n")
	}
}

// put ignores errors, because bufio.Writer keeps the first one.
func (m *MarkdownWriter) put(parts ...string) {
	for _, p := range parts {
		_, _ = m.w.WriteString(p)
	}
}

func (m *MarkdownWriter) err() error {
	if _, err := m.w.Write(nil); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

var plainMarker = pattern.New(`^(?:[-*+•]|\d{1,9}[.)])$`)

func (m *MarkdownWriter) listItem(b Block) {
	indent := strings.Repeat("    ", min(max(b.Level-m.base, 0), 20))
	marker := b.Marker
	switch {
	case marker == "" || marker == "•":
		marker = "-"
	case !plainMarker.MatchString(marker):
		marker = "- " + escape(marker) // for example "a)" or "1.2.", which are not list markers in Markdown
	}
	text := strings.ReplaceAll(linked(b.Text, b.Links), "\n", "  \n"+indent+"  ")
	m.put(indent, marker, " ", text, "\n")
}

func (m *MarkdownWriter) table(t *Table) {
	if t == nil {
		return
	}
	grid := cells(t)
	m.columns = 1
	for _, row := range grid {
		m.columns = max(m.columns, len(row))
	}
	if len(grid) == 0 {
		return
	}
	m.rows(grid[:1]) // a Markdown table needs a header
	m.put("|", strings.Repeat(" - |", m.columns), "\n")
	m.rows(grid[1:])
}

// cells expands a table into Markdown.
func cells(t *Table) [][]string {
	return t.grid(func(c Cell) string { return linked(c.Text, c.Links) }, escape)
}

func (m *MarkdownWriter) rows(grid [][]string) {
	for _, row := range grid {
		m.put("|")
		for c := range max(m.columns, len(row)) {
			text := ""
			if c < len(row) {
				text = oneLine(strings.ReplaceAll(row[c], "|", `\|`))
			}
			m.put(" ", text, " |")
		}
		m.put("\n")
	}
}

var (
	special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;",
		"&", "&amp;")
	blockStart = pattern.New(`(?m)^([ \t]*)(#{1,6}(?:[ \t]|$)|[-+](?:[ \t]|$)|>|~~~|={3,}[ \t]*$|-{2,}[ \t]*$)`)
	numbered   = pattern.New(`(?m)^([ \t]*\d{1,9})([.)](?:[ \t]|$))`)
)

// escape prevents text from being read as Markdown.
func escape(text string) string { return special.Replace(text) }

// paragraph escapes what would start another block, and keeps line breaks.
func paragraph(b Block) string {
	text := blockStart.ReplaceAllString(linked(b.Text, b.Links), `$1\$2`)
	text = numbered.ReplaceAllString(text, `$1\$2`)
	return strings.ReplaceAll(text, "\n", "  \n")
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", " "), "\n", " ")
}

// fenceFor returns a fence longer than any run of backticks in the code.
func fenceFor(code string) string {
	longest, run := 2, 0
	for _, r := range code {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}

// Marker returns the marker of the n-th item of a numbered list, for example "2.".
func Marker(n int) string { return strconv.Itoa(n) + "." }

// maxMarker is the longest marker of a list item, in bytes, that a file may define; real ones have a few words.
const maxMarker = 100

// CutMarker cuts a marker, or what a file defines to make markers of, to a length that is harmless in every item of a
// list: a file states it once, and each of its items repeats it.
func CutMarker(marker string) string {
	if len(marker) <= maxMarker {
		return marker
	}
	end := maxMarker
	for end > 0 && !utf8.RuneStart(marker[end]) {
		end--
	}
	return marker[:end]
}
