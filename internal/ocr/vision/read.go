package vision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Tries is the maximum number of requests to a model for one page.
const Tries = 4

// try is one way to ask.
type try struct {
	temperature float64
	tokens      int     // times Options.MaxTokens
	scale       float64 // of the image
}

// ladder lists the temperatures of repeated requests: higher ones, because a model that has lost itself in a loop takes
// the same way again at the same temperature; with more room; coarser, because fine print is what it loses itself
// in. An answer that was only cut off skips to the try with more room.
func ladder() [Tries]try { return [Tries]try{{0, 1, 1}, {0.4, 1, 1}, {0.2, 2, 1}, {0.8, 2, 0.75}} }

// moreRoom is the first try with more tokens.
const moreRoom = 2

// unreadError is why a model's answers were of no use.
type unreadError struct{ why string }

func (e *unreadError) Error() string { return "the model could not read the page: " + e.why }

// Read implements ocr.Engine. An answer that was cut off, repeats itself, is empty or a refusal is not a reading:
// the model is asked again up to Tries times, and after that the fallback, which Page.Engine tells. A content
// filter is not asked twice. Faults of the service are *taskerr.Error and go to no fallback: another attempt finds
// it well.
func (e *Engine) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	page, err := e.climb(ctx, img)
	if _, unread := errors.AsType[*unreadError](err); !unread || e.opts.Fallback == nil || ctx.Err() != nil {
		return page, err
	}
	usage := page.Usage
	page, other := e.opts.Fallback.Read(ctx, img)
	if other != nil {
		return ocr.Page{}, fmt.Errorf("%w; %s neither: %w", err, e.opts.Fallback.Name(), other)
	}
	page.Engine, page.Usage = e.opts.Fallback.Name(), usage
	return page, nil
}

// climb asks in one way after the other. Its page has the usage, also with an error.
func (e *Engine) climb(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	var usage ocr.Usage
	var turned ocr.Turn
	var last trouble
	for n := 0; n < Tries; n++ {
		text, asked, err := e.ask(ctx, turned.Of(img), ladder()[n], &usage)
		if err != nil {
			return ocr.Page{Usage: usage}, err
		}
		if asked.problem == "" && asked.turn != 0 && turned == 0 { // read once more, as it has to be held
			turned, last = asked.turn, trouble{problem: "it lies on its side"}
			continue
		}
		if asked.problem == "" {
			return ocr.Page{Markdown: text, Paragraphs: ocr.Plain(text), Turned: turned, Usage: usage}, nil
		}
		last = asked
		if asked.final {
			break
		}
		if asked.cut && n+1 < moreRoom {
			n = moreRoom - 1
		}
	}
	return ocr.Page{Usage: usage}, &unreadError{last.problem}
}

// ask asks once, and looks at the answer.
func (e *Engine) ask(ctx context.Context, img ocr.Image, t try, usage *ocr.Usage) (string, trouble, error) {
	picture, err := encode(sized(img.Gray, int(float64(e.opts.Side)*t.scale)))
	if err != nil {
		return "", trouble{}, err
	}
	a, err := e.chat.Ask(ctx, llm.Question{
		Text: e.prompt(), Images: []llm.Image{picture}, Temperature: t.temperature,
		MaxTokens: e.opts.MaxTokens * t.tokens,
	})
	if err != nil {
		if refusal, ok := errors.AsType[*taskerr.Error](err); ok && refusal.Class == taskerr.ValidationError {
			return "", trouble{problem: refusal.Message, final: true}, nil // it is this image that it dislikes
		}
		return "", trouble{}, err
	}
	*usage = usage.Add(ocr.Usage{Requests: 1, PromptTokens: a.PromptTokens, CompletionTokens: a.CompletionTokens})
	text, asked := e.examine(a)
	return text, asked, nil
}

// sized makes an image fit.
func sized(img *image.Gray, side int) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if max(w, h) <= side {
		return img
	}
	scale := float64(side) / float64(max(w, h))
	out := image.NewGray(image.Rect(0, 0, max(int(float64(w)*scale), 1), max(int(float64(h)*scale), 1)))
	draw.CatmullRom.Scale(out, out.Rect, img, img.Rect, draw.Src, nil)
	return out
}

// maxPNG is from how many bytes on a page is sent as JPEG: it is a photograph, or a noisy scan.
const maxPNG = 1 << 20

func encode(img *image.Gray) (llm.Image, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return llm.Image{}, fmt.Errorf("encode the page: %w", err)
	}
	if b.Len() <= maxPNG {
		return llm.Image{MediaType: "image/png", Data: b.Bytes()}, nil
	}
	b.Reset()
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		return llm.Image{}, fmt.Errorf("encode the page: %w", err)
	}
	return llm.Image{MediaType: "image/jpeg", Data: b.Bytes()}, nil
}
