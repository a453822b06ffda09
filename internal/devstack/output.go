package devstack

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// printer prints lines. It is safe for concurrent use, because webhooks arrive at any time.
type printer struct {
	mu    sync.Mutex
	w     io.Writer
	color bool
	held  bool
	kept  []string // lines held back
}

const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	green = "\x1b[32m"
	red   = "\x1b[31m"
)

func (p *printer) paint(color, text string) string {
	if !p.color {
		return text
	}
	return color + text + "\x1b[0m"
}

// line prints one line, or keeps it during a hold.
func (p *printer) line(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		p.kept = append(p.kept, text)
		return
	}
	fmt.Fprintln(p.w, text)
}

// hold keeps lines back while something else redraws the terminal.
func (p *printer) hold(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = on
	if on {
		return
	}
	for _, text := range p.kept {
		fmt.Fprintln(p.w, text)
	}
	p.kept = nil
}

func (p *printer) title(text, more string) { p.line("%s · %s\n", p.paint(bold, text), more) }

func (p *printer) section(text string) { p.line("\n%s", p.paint(bold, text)) }

func (p *printer) done(what, detail string) {
	p.line("  %s %-11s %s", p.paint(green, "✓"), what, hanging(detail))
}

func (p *printer) bad(what, detail string) {
	p.line("  %s %-11s %s", p.paint(red, "✗"), what, hanging(detail))
}

// hanging breaks a text between words, at 120 columns of a line whose first 16 are the mark and the name.
func hanging(text string) string {
	const from, to = 16, 120
	var b strings.Builder
	at := from
	for i, word := range strings.Split(text, " ") {
		width := utf8.RuneCountInString(word)
		switch {
		case i > 0 && at+1+width > to:
			b.WriteString("\n" + strings.Repeat(" ", from))
			at = from
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width
	}
	return b.String()
}

// count is a number of things, for example "1 chunk" or "12 chunks".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
