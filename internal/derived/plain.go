package derived

import (
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// markdownWriter writes Markdown. A page begins with a comment that names it and, if it could not be
// read, the reason:
//
//	<!-- page 3 -->
//	<!-- page 4 unread: a page took longer than 30s -->
type markdownWriter struct {
	out    *output
	blocks *extract.MarkdownWriter // of the page
	begun  bool
	given  bool // the engine returned the page's Markdown
}

// Page implements Writer.
func (m *markdownWriter) Page(p Page) error {
	if err := m.end(); err != nil {
		return err
	}
	if m.begun {
		m.out.put("\n")
	}
	m.begun, m.given = true, p.Markdown != ""
	m.out.put("<!-- page ", strconv.Itoa(p.Number))
	if p.Unread != "" {
		m.out.put(" unread: ", comment(p.Unread))
	}
	m.out.put(" -->\n")
	if m.given {
		m.out.put("\n", strings.TrimSpace(p.Markdown), "\n")
	}
	return m.out.err()
}

// comment prevents a text from ending a comment.
func comment(s string) string {
	return strings.NewReplacer("--", "- -", ">", "", "\n", " ").Replace(s)
}

// Block implements Writer.
func (m *markdownWriter) Block(b Block) error {
	if m.given {
		return nil
	}
	if m.blocks == nil {
		m.out.put("\n")
		m.blocks = extract.NewMarkdownWriter(m.out)
	}
	return m.blocks.Write(b.Block)
}

func (m *markdownWriter) end() error {
	if m.blocks == nil {
		return nil
	}
	blocks := m.blocks
	m.blocks = nil
	return blocks.Close()
}

// Close implements Writer.
func (m *markdownWriter) Close(Tail) error {
	if err := m.end(); err != nil {
		return err
	}
	return m.out.flush()
}

// textWriter writes plain text: blocks separated by a blank line, a form feed after each page.
type textWriter struct {
	out    *output
	pages  int
	blocks int // of the page
}

// Page implements Writer.
func (t *textWriter) Page(Page) error {
	if t.pages > 0 {
		t.out.put("\f")
	}
	t.pages++
	t.blocks = 0
	return t.out.err()
}

// Block implements Writer.
func (t *textWriter) Block(b Block) error {
	if b.Kind == extract.Picture && b.Text == "" {
		return nil
	}
	if t.blocks > 0 && (b.Table == nil || !b.Table.Continued) {
		t.out.put("\n")
	}
	t.blocks++
	t.out.put(b.text(), "\n")
	return t.out.err()
}

// Close implements Writer.
func (t *textWriter) Close(Tail) error {
	if t.pages > 0 {
		t.out.put("\f")
	}
	return t.out.flush()
}
