package pdf

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
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

// glyphPages are the glyphs of some pages. A page that needs them is mostly followed by others, and a process for each
// would cost more than their text: so a few pages are read at once, and more if they were needed.
type glyphPages struct {
	last  int // that is read at all
	pages map[int][]glyphLine
	end   int // the last page that was asked for
	count int // pages that were asked for last
}

// The pages and the bytes of memory that are read at once. Of one page, all is read.
const (
	fewGlyphPages = 2
	maxGlyphPages = 16
	maxGlyphBytes = 4 << 20
)

// readGlyphs finds out from a page's glyphs what its words alone don't tell: which letters of right-to-left words
// are one glyph, and which gaps in Chinese and Japanese are spaces. Without it, the page stays as it is. runs are what
// the page draws, or nil: only pdftohtml knows.
func (p poppler) readGlyphs(ctx context.Context, pg *page, runs *runPage, g *glyphPages) {
	rtl := slices.ContainsFunc(pg.words, func(w word) bool { return w.visual != "" })
	gaps := pg.doubtfulGaps()
	if runs != nil && len(gaps) > 0 {
		pg.closeGaps(gaps, runs.spaces())
		gaps = nil
	}
	if !rtl && len(gaps) == 0 {
		return
	}
	lines, ok := p.glyphsOf(ctx, pg.number, g)
	if !ok {
		return
	}
	pg.closeGaps(gaps, func(before, after word) bool { return spaceAt(lines, before, after) })
	if rtl {
		pg.orderLetters(lines)
	}
}

// glyphsOf returns the glyphs of a page, as far as they can be read; false if poppler couldn't be asked.
func (p poppler) glyphsOf(ctx context.Context, number int, g *glyphPages) ([]glyphLine, bool) {
	if lines, ok := g.pages[number]; ok {
		delete(g.pages, number)
		return lines, true
	}
	if g.count > 0 && number <= g.end+1 {
		g.count = min(2*g.count, maxGlyphPages)
	} else {
		g.count = fewGlyphPages
	}
	g.end = min(number+g.count-1, g.last)
	const everyGap = "-1000" // percent of the letters' height
	var cut []glyphLine
	_, err := p.run(ctx, "pdftohtml", func(r io.Reader) (err error) {
		g.pages, cut, err = readGlyphPages(r, number)
		return err
	}, append([]string{"-wbt", everyGap}, p.runArgs(number, g.end)...)...)
	if lines, ok := g.pages[number]; ok { // an error is about a later page
		delete(g.pages, number)
		return lines, true
	}
	return cut, err == nil
}

// readGlyphPages reads the output of pdftohtml for the pages from first on. It returns the glyphs of the pages that are
// whole, and those of the first one if it is cut.
func readGlyphPages(r io.Reader, first int) (whole map[int][]glyphLine, cut []glyphLine, err error) {
	whole = map[int][]glyphLine{}
	m := newMarkup(r)
	var lines []glyphLine
	var text strings.Builder
	var at box
	page, held, all := first, 0, 0
	for {
		part, tag, err := m.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return whole, nil, err
		}
		if text.Len() < maxToken {
			text.WriteString(plain(part))
		}
		switch string(tagName(tag)) {
		case "page":
			if n, err := strconv.Atoi(string(attribute(tag, "number"))); err == nil {
				page = n
			}
			lines = nil
		case "/page":
			whole[page] = lines
			lines = nil
		case "text":
			text.Reset()
			left, top := number(tag, "left")/zoom, number(tag, "top")/zoom
			at = ordered(box{left, top, left + number(tag, "width")/zoom, top + number(tag, "height")/zoom})
		case "/text":
			if len(lines) < maxWords {
				lines = append(lines, glyphLine{at, text.String()})
			}
			all, held = all+1, held+text.Len()
		}
		if page > first && (all > maxWords || held > maxGlyphBytes) {
			return whole, nil, nil
		}
	}
	if page == first {
		cut = lines
	}
	return whole, cut, nil
}
