package scan

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	makeblocks "github.com/seed-7227ef26/async-worker/internal/extract/reading"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Reasons of decisions, as they are recorded.
const (
	whyText        = "text"
	whyLayer       = "invisible text over an image"
	whyNoText      = "no text"
	whyLittle      = "little text"
	whyGarbage     = "unreadable characters"
	whyImplausible = "implausible words"
	whyDamaged     = "the page's text can't be read"
	whyBlank       = "blank"
	whyNothing     = "OCR found nothing"

	nothingBeside = "; there is nothing else to read"
	noBetter      = "; OCR was no better"
	noOCR         = "; it could not be read by OCR"
)

const (
	// fewOwn letters or more are too many for a stamp, a page number or the name of a scanner, alone on
	// the image of a page; a page of print has 1500 and more.
	fewOwn = 200
	// ownLetters is from how many a page with a picture is not a scan, when there is no OCR to find out.
	ownLetters = 40
	// goodText and goodLayer are plausibilities of words. A layer was read by a program from an image:
	// reading it again may well be better. What a writer's program wrote is only doubted when it can't be so.
	goodText  = 0.6
	goodLayer = 0.8
	// muchGarbage is the share of characters without a name from which a page's text is not to be read.
	muchGarbage = 0.1
	// fewRead letters that OCR reads beside or instead of a page's own text are not a gain.
	fewRead = 10
	// sureBeside is the confidence required of words beside a page's own text: pictures are
	// read as words with less.
	sureBeside = 0.6
)

// need is what a page needs.
type need int

const (
	needNothing need = iota
	needLook         // whether there is more on it than its own text
	needOCR
)

// opinion is what is thought of a page's own text.
type opinion struct {
	need    need
	letters int
	quality float64 // 0-1
	reason  string
}

// judge looks at a page's own text.
func judge(p pdf.PageText) opinion {
	words := make([]string, len(p.Words))
	o := opinion{reason: whyText}
	for i, w := range p.Words {
		words[i] = w.Text
		o.letters += ocr.Letters(w.Text)
	}
	if p.Layer {
		o.reason = whyLayer
	}
	garbage := float64(p.Garbage) / float64(max(p.Chars, 1))
	o.quality = plausibility(words) * (1 - min(garbage, 1))
	good := goodText
	if p.Layer {
		good = goodLayer
	}
	switch {
	case p.Width <= 0 || p.Height <= 0:
		o.need, o.quality, o.reason = needOCR, 0, whyDamaged
	case garbage >= muchGarbage && p.Chars >= fewRead:
		o.need, o.reason = needOCR, whyGarbage
	case o.letters == 0:
		o.need, o.quality, o.reason = needOCR, 0, whyNoText
	case o.quality < good:
		o.need, o.reason = needOCR, whyImplausible
	case o.letters < fewOwn:
		o.need, o.reason = needLook, whyLittle
	}
	return o
}

// decide says what is made of a page that OCR read, and emits what is taken of it. text is clean.
func decide(p pdf.PageText, own opinion, text ocr.Page) (extract.PageDecision, pdf.Answer, ocr.Page) {
	read := text.Confidence() * plausibility(textWords(text))
	switch {
	case own.need == needLook:
		return decideBeside(p, own, text)
	case own.letters == 0 && text.Letters() == 0:
		return extract.PageDecision{
			Method: extract.PageEmpty, Confidence: 0.5, Reason: whyNothing,
		}, pdf.Answer{Drop: true}, ocr.Page{}
	case own.letters == 0 || read > own.quality && text.Letters() >= fewRead:
		return extract.PageDecision{Method: extract.PageOCR, Confidence: text.Confidence(), Reason: own.reason},
			pdf.Answer{Drop: true, Blocks: blocks(p.Number, text)}, text
	}
	return extract.PageDecision{
		Method: extract.PageNative, Confidence: own.quality, Reason: own.reason + noBetter,
	}, pdf.Answer{}, ocr.Page{}
}

// decideBeside is decide for a page whose own text is good and little: OCR adds the words beside it.
func decideBeside(p pdf.PageText, own opinion, text ocr.Page) (extract.PageDecision, pdf.Answer, ocr.Page) {
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

// beside leaves out of what OCR read what the page has as text, by its place, or by its words when the
// engine reports no positions.
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

// within reports whether a point lies in a word's box or next to it.
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

// blocks are what was read of the page: with headings and tables when the engine gives Markdown.
func blocks(number int, text ocr.Page) []extract.Block {
	all := make([]extract.Block, 0, len(text.Paragraphs))
	// Neither emit nor the context fails.
	_ = makeblocks.Blocks(context.Background(), text, number, func(b extract.Block, _ ocr.Paragraph) error {
		all = append(all, b)
		return nil
	})
	return all
}
