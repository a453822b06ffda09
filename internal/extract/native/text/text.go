// Package text extracts plain text: paragraphs separated by blank lines, underlined headings, pages separated
// by form feeds. Of captions (WebVTT, SubRip) it reads what is said. It reads line by line, so that a file of any size takes little memory.
package text

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxLine      = 64 << 10 // bytes; a longer line is read in pieces
	maxParagraph = 64 << 10 // bytes; a longer one is emitted in pieces that end at line ends
	maxHeading   = 200      // bytes
)

// New returns an extractor of plain text. Blocks have a page only in a file with form feeds.
func New() extract.Extractor { return extract.Func("native/text", 6, read) }

func read(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	rc, encoding, warnings, err := charset.OpenWarned(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = rc.Close() }() // read-only
	p := &parser{emit: emit, limits: limits}
	if err := p.read(ctx, rc); err != nil {
		return extract.Info{}, err
	}
	return extract.Info{
		Pages: p.page, Properties: map[string]string{"encoding": string(encoding)}, Warnings: warnings,
	}, nil
}

type parser struct {
	emit   extract.Emit
	limits extract.Limits
	page   int // 0 until the first form feed
	lines  []string
	bytes  int
	blocks []extract.Block // of the first page, held back until a form feed shows that there are pages
	held   int             // bytes in blocks
	open   bool            // blocks are no longer held back
}

func (p *parser) read(ctx context.Context, r io.Reader) error {
	lines := bufio.NewReaderSize(r, maxLine)
	if is, web := isCaptions(lines); is {
		return (&captions{p: p, web: web}).read(ctx, lines)
	}
	continued := false // the piece continues the previous line
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		piece, err := lines.ReadSlice('\n')
		whole := !errors.Is(err, bufio.ErrBufferFull)
		if err != nil && whole && !errors.Is(err, io.EOF) {
			return taskerr.Errorf(taskerr.CorruptionDetected, "the text can't be read to its end: %w", err)
		}
		if err := p.line(string(piece), continued); err != nil {
			return err
		}
		continued = !whole
		if errors.Is(err, io.EOF) {
			break
		}
	}
	if err := p.paragraph(); err != nil {
		return err
	}
	return p.release()
}

// line handles one line, or a piece of a long one.
func (p *parser) line(text string, continued bool) error {
	for {
		before, after, found := strings.Cut(text, "\f")
		if !found {
			break
		}
		if err := p.plainLine(before, continued); err != nil {
			return err
		}
		if err := p.nextPage(); err != nil {
			return err
		}
		text, continued = after, false
		if text == "" || text == "\n" || text == "\r\n" {
			return nil
		}
	}
	return p.plainLine(text, continued)
}

func (p *parser) plainLine(text string, continued bool) error {
	text = strings.TrimRight(text, " \t\r\n\x00")
	if text == "" {
		if continued {
			return nil
		}
		return p.paragraph()
	}
	if len(p.lines) == 1 && isUnderline(text, p.lines[0]) {
		heading := p.lines[0]
		p.lines, p.bytes = nil, 0
		level := 1
		if strings.HasPrefix(strings.TrimSpace(text), "-") {
			level = 2
		}
		return p.put(extract.Block{Kind: extract.Heading, Level: level, Text: heading})
	}
	if p.bytes+len(text) > maxParagraph {
		if err := p.paragraph(); err != nil {
			return err
		}
	}
	p.lines = append(p.lines, text)
	p.bytes += len(text) + 1
	return nil
}

// isUnderline reports whether a line consists only of = or - and is about as long as the line above.
func isUnderline(text, above string) bool {
	text = strings.TrimSpace(text)
	if len(text) < 3 || len(above) > maxHeading || strings.Trim(text, "=") != "" && strings.Trim(text, "-") != "" {
		return false
	}
	above = strings.TrimSpace(above)
	return strings.Trim(above, "=-*_ ") != "" && len(text)*2 >= len([]rune(above))
}

func (p *parser) paragraph() error {
	if len(p.lines) == 0 {
		return nil
	}
	text := strings.Join(p.lines, "\n")
	p.lines, p.bytes = nil, 0
	return p.put(extract.Block{Kind: extract.Paragraph, Text: text})
}

func (p *parser) nextPage() error {
	if err := p.paragraph(); err != nil {
		return err
	}
	p.page = max(p.page, 1)
	if err := p.release(); err != nil {
		return err
	}
	if p.page++; p.page > p.limits.Pages {
		return taskerr.Errorf(taskerr.QuotaExceeded, "the document has more than %d pages: split it into smaller files",
			p.limits.Pages)
	}
	return nil
}

// put emits a block. The first page's worth is held back until a form feed shows whether there are pages.
func (p *parser) put(b extract.Block) error {
	if p.open {
		b.Page = p.page
		return p.emit(b)
	}
	p.blocks = append(p.blocks, b)
	if p.held += len(b.Text); p.held > maxParagraph {
		return p.release()
	}
	return nil
}

func (p *parser) release() error {
	p.open = true
	for _, b := range p.blocks {
		b.Page = p.page
		if err := p.emit(b); err != nil {
			return err
		}
	}
	p.blocks = nil
	return nil
}
