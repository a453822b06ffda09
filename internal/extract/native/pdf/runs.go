package pdf

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// zoom is pdftohtml's maximum; its font sizes are multiples of 1/zoom points.
const zoom = 3

// run is a piece of text in one font, as `pdftohtml -xml` prints it.
type run struct {
	box
	style
	line    int  // its place from 1 among the lines of the page's content, which are several runs if they change their font
	hidden  bool // it is not drawn; unknown of those that pdftohtml prints, as the gaps are
	gaps    []content.Gap
	start   string // its first characters
	letters int
	parts   []runPart // of one that changes its style within; nil: it doesn't
}

// runPart is characters of a run in one style.
type runPart struct {
	characters   int // without spaces
	bold, italic bool
}

// partsOf adds characters to the last part, or begins one.
func partsOf(parts []runPart, text string, bold, italic bool) []runPart {
	count := characters(normalize(text))
	if count == 0 {
		return parts
	}
	if n := len(parts) - 1; n >= 0 && parts[n].bold == bold && parts[n].italic == italic {
		parts[n].characters += count
		return parts
	}
	return append(parts, runPart{count, bold, italic})
}

// characters counts those of a text without spaces.
func characters(text string) (n int) {
	for _, r := range text {
		n += one(!unicode.IsSpace(r))
	}
	return n
}

// runPage is a page's runs in the order of its content stream.
type runPage struct {
	number        int
	width, height float64
	runs          []run
}

// outlineItem is an entry of a document's outline (its bookmarks).
type outlineItem struct {
	title string
	page  int
	level int // from 1
}

const (
	maxFonts   = 10_000
	maxOutline = 5_000
	maxStart   = 24 // bytes of a run's text that are kept
)

// readRuns reads the output of `pdftohtml -xml -zoom 3`. It yields its pages and returns the outline.
func readRuns(r io.Reader, yield func(*runPage) error) ([]outlineItem, error) {
	m := newMarkup(r)
	fonts := map[string]style{}
	var outline []outlineItem
	var p *runPage
	var open run
	var start []byte // of the run's text
	var inRun, bold, italic bool
	var level int
	var item *outlineItem
	for {
		text, tag, err := m.next()
		if errors.Is(err, io.EOF) {
			return outline, nil
		}
		if err != nil {
			return outline, err
		}
		if inRun {
			shown := plain(text)
			open.letters += letters(shown)
			open.parts = partsOf(open.parts, shown, bold, italic)
			if len(start) < maxStart {
				if len(text) > maxStart {
					shown = plain(text[:maxStart])
				}
				start = append(start, shown...)
			}
		}
		switch string(tagName(tag)) {
		case "page":
			n, _ := strconv.Atoi(string(attribute(tag, "number")))
			p = &runPage{number: n, width: number(tag, "width") / zoom, height: number(tag, "height") / zoom}
		case "/page":
			if p != nil {
				if err := yield(p); err != nil {
					return outline, err
				}
			}
			p = nil
		case "fontspec":
			if len(fonts) < maxFonts {
				fonts[string(attribute(tag, "id"))] = fontStyle(string(attribute(tag, "family")), number(tag, "size")/zoom)
			}
		case "text":
			left, top := number(tag, "left")/zoom, number(tag, "top")/zoom
			open = run{
				box:   ordered(box{left, top, left + number(tag, "width")/zoom, top + number(tag, "height")/zoom}),
				style: fonts[string(attribute(tag, "font"))],
			}
			inRun, bold, italic = true, false, false
			start = start[:0]
		case "b":
			open.bold, bold = true, true
		case "i":
			open.italic, italic = true, true
		case "/b":
			bold = false
		case "/i":
			italic = false
		case "/text":
			if len(open.parts) < 2 {
				open.parts = nil
			}
			if p != nil && inRun && len(p.runs) < maxWords {
				open.start, open.line = strings.ToValidUTF8(string(start), ""), len(p.runs)+1
				p.runs = append(p.runs, open)
			}
			inRun = false
		case "outline":
			level++
		case "/outline":
			level--
		case "item":
			n, _ := strconv.Atoi(string(attribute(tag, "page")))
			item = &outlineItem{page: n, level: max(level, 1)}
		case "/item":
			if item != nil && len(outline) < maxOutline {
				item.title = normalize(plain(text))
				outline = append(outline, *item)
			}
			item = nil
		}
	}
}
