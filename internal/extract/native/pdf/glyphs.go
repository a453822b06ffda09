package pdf

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
)

// glyphLine is a piece of a line in one font as pdftohtml prints it with a blank after each glyph: letters of one
// glyph have no blank between them, and a space of the text is three.
type glyphLine struct {
	box
	text string
}

// glyphBlank is a space of the text.
const glyphBlank = "   "

// readGlyphs finds out from a page's glyphs what its words alone don't tell: which letters of right-to-left words
// are one glyph, and which gaps in Chinese and Japanese are spaces. Without it, the page stays as it is.
func (p poppler) readGlyphs(ctx context.Context, pg *page) {
	rtl := slices.ContainsFunc(pg.words, func(w word) bool { return w.visual != "" })
	gaps := pg.doubtfulGaps()
	if !rtl && len(gaps) == 0 {
		return
	}
	var lines []glyphLine
	const everyGap = "-1000" // percent of the letters' height
	args := append([]string{"-wbt", everyGap}, p.runArgs(pg.number, pg.number)...)
	_, err := p.run(ctx, "pdftohtml", func(r io.Reader) (err error) {
		lines, err = readGlyphLines(r)
		return err
	}, args...)
	if err != nil {
		return
	}
	pg.closeGaps(gaps, lines)
	if rtl {
		pg.orderLetters(lines)
	}
}

func readGlyphLines(r io.Reader) ([]glyphLine, error) {
	var out []glyphLine
	m := newMarkup(r)
	var text strings.Builder
	var at box
	for len(out) < maxWords {
		part, tag, err := m.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if text.Len() < maxToken {
			text.WriteString(plain(part))
		}
		switch tagName(tag) {
		case "text":
			text.Reset()
			left, top := number(tag, "left")/zoom, number(tag, "top")/zoom
			at = ordered(box{left, top, left + number(tag, "width")/zoom, top + number(tag, "height")/zoom})
		case "/text":
			out = append(out, glyphLine{at, text.String()})
		}
	}
	return out, nil
}
