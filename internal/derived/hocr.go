package derived

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// hocrWriter writes hOCR 1.2 (http://kba.github.io/hocr-spec/1.2/) as XML: an ocr_page has an ocr_carea with
// one ocr_par for each block; a paragraph has ocr_lines, and ocrx_words if words have boxes. Boxes are in pixels
// of the page image. A page that could not be read is empty, with the reason in a comment.
type hocrWriter struct {
	out   *output
	head  Head
	page  Page
	pages int
	ids   [4]int // of the last carea, par, line and word of the page
	begun bool
}

func newHOCR(out *output, h Head) *hocrWriter { return &hocrWriter{out: out, head: h} }

const (
	hocrTop = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml">
 <head>
  <title>%s</title>
  <meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
  <meta name="ocr-system" content="%s"/>
  <meta name="ocr-capabilities" content="%s"/>
%s </head>
 <body>
`
	hocrBottom = " </body>\n</html>\n"
)

func (w *hocrWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	capabilities := []string{"ocr_page", "ocr_carea", "ocr_par", "ocr_line"}
	if w.head.Abilities.Boxes {
		capabilities = append(capabilities, "ocrx_word")
	}
	if w.head.Abilities.Confidence {
		capabilities = append(capabilities, "ocrp_wconf")
	}
	languages := ""
	if len(w.head.Languages) > 0 {
		languages = fmt.Sprintf("  <meta name=\"ocr-langs\" content=%q/>\n",
			escape(strings.Join(w.head.Languages, " ")))
	}
	w.out.put(fmt.Sprintf(hocrTop, escape(w.head.Filename), escape(strings.TrimSpace(w.head.Engine+" "+w.head.Version)),
		strings.Join(capabilities, " "), languages))
}

// escape escapes text for XML elements and attributes.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// Page implements Writer.
func (w *hocrWriter) Page(p Page) error {
	w.begin()
	w.end()
	w.page, w.ids = p, [4]int{}
	w.pages++
	title := fmt.Sprintf("image %q; bbox 0 0 %d %d; ppageno %d", strings.ReplaceAll(w.head.Filename, `"`, "'"), p.Width,
		p.Height, p.Number-1)
	if p.DPI > 0 {
		title += fmt.Sprintf("; scan_res %d %d", p.DPI, p.DPI)
	}
	w.out.put(`  <div class="ocr_page" id="page_`, strconv.Itoa(p.Number), `" title="`, escape(title), "\">\n")
	if p.Unread != "" {
		w.out.put("   <!-- unread: ", comment(p.Unread), " -->\n")
	}
	return w.out.err()
}

func (w *hocrWriter) end() {
	if w.pages > 0 {
		w.out.put("  </div>\n")
	}
}

// Block implements Writer.
func (w *hocrWriter) Block(b Block) error {
	lines := b.lines()
	if len(lines) == 0 {
		return w.out.err()
	}
	box := b.Words.Box()
	if !box.Known() && b.Box != nil {
		box = ocr.Box(*b.Box)
	}
	w.out.put(`   <div class="ocr_carea"`, w.title(0, "block", box, ""), `><p class="ocr_par"`,
		w.title(1, "par", box, ""), ">\n")
	for _, line := range lines {
		angle := ""
		if w.page.Turned != 0 {
			angle = fmt.Sprintf("textangle %d", w.page.Turned) // counterclockwise
		}
		w.out.put(`    <span class="ocr_line"`, w.title(2, "line", line.Box(), angle), ">")
		w.words(line)
		w.out.put("</span>\n")
	}
	w.out.put("   </p></div>\n")
	return w.out.err()
}

func (w *hocrWriter) words(line ocr.Line) {
	if !line.Box().Known() {
		w.out.put(escape(line.Text()))
		return
	}
	for i, word := range line {
		if i > 0 {
			w.out.put(" ")
		}
		confidence := ""
		if w.head.Abilities.Confidence {
			confidence = fmt.Sprintf("x_wconf %.0f", 100*word.Confidence)
		}
		w.out.put(`<span class="ocrx_word"`, w.title(3, "word", word.Box, confidence), ">", escape(word.Text),
			"</span>")
	}
}

// title returns the id attribute of an element and its known properties.
func (w *hocrWriter) title(level int, name string, box ocr.Box, more string) string {
	w.ids[level]++
	id := fmt.Sprintf(` id="%s_%d_%d"`, name, w.page.Number, w.ids[level])
	var properties []string
	if box.Known() && w.page.Width > 0 {
		x, y := float64(w.page.Width), float64(w.page.Height)
		properties = append(properties, fmt.Sprintf("bbox %.0f %.0f %.0f %.0f", box.Left*x, box.Top*y, box.Right*x,
			box.Bottom*y))
	}
	if more != "" {
		properties = append(properties, more)
	}
	if len(properties) == 0 {
		return id
	}
	return id + ` title="` + strings.Join(properties, "; ") + `"`
}

// Close implements Writer.
func (w *hocrWriter) Close(Tail) error {
	w.begin()
	w.end()
	w.out.put(hocrBottom)
	return w.out.flush()
}
