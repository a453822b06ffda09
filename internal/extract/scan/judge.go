package scan

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	makeblocks "github.com/seed-7227ef26/async-worker/internal/extract/reading"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Reasons of decisions, as recorded.
const (
	reasonText        = "text"
	reasonLayer       = "invisible text over an image"
	reasonNoText      = "no text"
	reasonLittle      = "little text"
	reasonPicture     = "some text over a picture"
	reasonGarbage     = "unreadable characters"
	reasonImplausible = "implausible words"
	reasonDamaged     = "the page's text can't be read"
	reasonBlank       = "blank"
	reasonNothing     = "OCR found nothing"

	nothingBeside = "; there is nothing else to read"
	noBetter      = "; OCR was no better"
	noOCR         = "; it could not be read by OCR"
)

const (
	// fewOwn letters or more are not just a stamp, a page number or a scanner's name alone on a page image; a
	// printed page has 1500 and more.
	fewOwn = 200
	// Over images that cover fullPicture of the page, the words may be a longer stamp on a scan, such as the note of an
	// electronic signature: up to fewOverPicture letters, in print so small that its words take at most smallPrint of the
	// page. The text of a slide over its background takes more.
	fullPicture    = 0.5
	fewOverPicture = 1000
	smallPrint     = 0.05
	// Without OCR to find out, a page with a picture and at least ownLetters letters is not a scan.
	ownLetters = 40
	// goodText and goodLayer are plausibilities of words. A layer was read from an image by a program, so
	// reading it again may well be better. Text from a writing program is doubted only if it is clearly
	// implausible.
	goodText  = 0.6
	goodLayer = 0.8
	// muchGarbage is the fraction of unnamed characters from which a page's text is unusable.
	muchGarbage = 0.1
	// fewRead letters from OCR in addition to, or instead of, a page's own text are not a gain.
	fewRead = 10
	// fewOf is the fraction of a page's own letters that OCR must read at least to replace them: otherwise it hardly
	// sees them, such as tiny part numbers.
	fewOf = 1.0 / 20
	// sureBeside is the confidence required of words beside a page's own text; pictures are misread as words
	// with less.
	sureBeside = 0.6
)

// need is what a page needs.
type need int

const (
	needNothing need = iota
	needLook         // find out whether the page shows more than its own text
	needOCR
)

// assessment is the assessment of a page's own text.
type assessment struct {
	need    need
	letters int
	quality float64 // 0-1
	reason  string
}

// judge assesses a page's own text.
func judge(p pdf.PageText) assessment {
	words := make([]string, len(p.Words))
	o := assessment{reason: reasonText}
	for i, w := range p.Words {
		words[i] = w.Text
		o.letters += ocr.Letters(w.Text)
	}
	if p.Layer {
		o.reason = reasonLayer
	}
	garbage := float64(p.Garbage) / float64(max(p.Chars, 1))
	o.quality = plausibility(words) * (1 - min(garbage, 1))
	good := goodText
	if p.Layer {
		good = goodLayer
	}
	switch {
	case p.Width <= 0 || p.Height <= 0:
		o.need, o.quality, o.reason = needOCR, 0, reasonDamaged
	case garbage >= muchGarbage && p.Chars >= fewRead:
		o.need, o.reason = needOCR, reasonGarbage
	case o.letters == 0:
		o.need, o.quality, o.reason = needOCR, 0, reasonNoText
	case o.quality < good:
		o.need, o.reason = needOCR, reasonImplausible
	case o.letters < fewOwn:
		o.need, o.reason = needLook, reasonLittle
	case mayBeStamped(p, o.letters):
		o.need, o.reason = needLook, reasonPicture
	}
	return o
}

// mayBeStamped reports whether a page with that many letters may be a scan, and its words a stamp on it.
func mayBeStamped(p pdf.PageText, letters int) bool {
	if p.Layer || p.Pictures < fullPicture || letters >= fewOverPicture {
		return false
	}
	area := 0.0
	for _, w := range p.Words {
		area += (w.Box.Right - w.Box.Left) * (w.Box.Bottom - w.Box.Top)
	}
	return area <= smallPrint
}

// decide decides what to use of a page that OCR read, and emits the text that it takes from OCR. text is clean.
func decide(p pdf.PageText, own assessment, text ocr.Page) (extract.PageDecision, pdf.Answer, ocr.Page) {
	read := text.Confidence() * plausibility(textWords(text))
	switch {
	case own.need == needLook:
		return decideBeside(p, own, text)
	case own.letters == 0 && text.Letters() == 0:
		return extract.PageDecision{
			Method: extract.PageEmpty, Confidence: 0.5, Reason: reasonNothing,
		}, pdf.Answer{Drop: true}, ocr.Page{}
	case own.letters == 0 || read > own.quality && text.Letters() >= fewRead &&
		(own.reason != reasonImplausible || p.Layer || float64(text.Letters()) >= fewOf*float64(own.letters)):
		answer := pdf.Answer{Drop: true, Read: linesOf(text)}
		if answer.Read == nil {
			answer.Blocks = blocks(p.Number, text)
		}
		return extract.PageDecision{Method: extract.PageOCR, Confidence: text.Confidence(), Reason: own.reason}, answer, text
	}
	return extract.PageDecision{
		Method: extract.PageNative, Confidence: own.quality, Reason: own.reason + noBetter,
	}, pdf.Answer{}, ocr.Page{}
}

// decideBeside is decide for a page whose own text is good but little: OCR adds the words beside it.
func decideBeside(p pdf.PageText, own assessment, text ocr.Page) (extract.PageDecision, pdf.Answer, ocr.Page) {
	more := beside(text, p.Words)
	if more.Letters() < fewRead || more.Confidence() < sureBeside || plausibility(textWords(more)) < goodText {
		return extract.PageDecision{
			Method: extract.PageNative, Confidence: own.quality, Reason: own.reason + nothingBeside,
		}, pdf.Answer{}, ocr.Page{}
	}
	a := pdf.Answer{Whole: true, Blocks: blocks(p.Number, more)}
	top := 1.0
	for _, w := range p.Words {
		top = min(top, w.Box.Top)
	}
	a.First = more.Paragraphs[0].Box().Top < top
	return extract.PageDecision{Method: extract.PageMixed, Confidence: more.Confidence(), Reason: own.reason}, a, more
}

// beside removes from text the words that the page has as its own: by position, or by spelling if the engine
// reports no positions.
func beside(text ocr.Page, own []pdf.Word) ocr.Page {
	known := make(map[string]bool, len(own))
	for _, w := range own {
		known[w.Text] = true
	}
	return text.Without(func(w ocr.Word) bool {
		if !w.Box.Known() {
			return known[w.Text]
		}
		x, y := (w.Box.Left+w.Box.Right)/2, (w.Box.Top+w.Box.Bottom)/2
		return within(own, x, y)
	})
}

// within reports whether a point is in a word's box or next to it.
func within(words []pdf.Word, x, y float64) bool {
	for _, w := range words {
		margin := 0.3 * (w.Box.Bottom - w.Box.Top)
		if x > w.Box.Left-margin && x < w.Box.Right+margin && y > w.Box.Top-margin && y < w.Box.Bottom+margin {
			return true
		}
	}
	return false
}

func textWords(p ocr.Page) []string {
	var words []string
	for _, paragraph := range p.Paragraphs {
		for _, line := range paragraph {
			for _, w := range line {
				words = append(words, w.Text)
			}
		}
	}
	return words
}

// linesOf returns the lines that were read, for the layout of text; nil if the engine returns Markdown, or no positions.
func linesOf(text ocr.Page) *pdf.Reading {
	if text.Markdown != "" {
		return nil
	}
	r := &pdf.Reading{Skew: text.Skew}
	for _, paragraph := range text.Paragraphs {
		for _, line := range paragraph {
			words := make(pdf.Line, len(line))
			for i, w := range line {
				if !w.Box.Known() {
					return nil
				}
				words[i] = pdf.Word{Text: extract.Clean(w.Text), Box: extract.Box(w.Box)}
			}
			r.Lines = append(r.Lines, words)
		}
	}
	return r
}

// blocks returns the blocks of the text that was read, with headings and tables if the engine returns Markdown.
func blocks(number int, text ocr.Page) []extract.Block {
	all := make([]extract.Block, 0, len(text.Paragraphs))
	// The error is always nil: neither emit nor the context fails.
	_ = makeblocks.Blocks(context.Background(), text, number, func(b extract.Block, _ ocr.Paragraph) error {
		all = append(all, b)
		return nil
	})
	return all
}
