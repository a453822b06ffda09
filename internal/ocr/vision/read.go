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

// try holds the parameters of one request.
type try struct {
	temperature float64
	tokens      int     // multiple of Options.MaxTokens
	scale       float64 // of the image
}

// tries lists the parameters of repeated requests. They use higher temperatures, because a model in a loop
// repeats it at the same temperature; more tokens; and a smaller image, because fine print causes loops. An
// answer that was only cut off skips to the try with more tokens.
func tries() [Tries]try { return [Tries]try{{0, 1, 1}, {0.4, 1, 1}, {0.2, 2, 1}, {0.8, 2, 0.75}} }

// moreTokens is the first try with more tokens.
const moreTokens = 2

// unreadError states why a model's answers were unusable.
type unreadError struct{ reason string }

func (e *unreadError) Error() string { return "the model could not read the page: " + e.reason }

// Read implements ocr.Engine. An answer that was cut off, repeats itself, is empty or is a refusal is not a
// reading: the page is requested up to Tries times, and then read by the fallback, which Page.Engine reports.
// After a content filter there is no further request. A page for which the task has no tokens left (ocr.ErrTokens) is read
// by the fallback, too, and is Partial: with more tokens the model would read it. Faults of the service are *taskerr.Error
// and don't use the fallback: another attempt will find it working.
func (e *Engine) Read(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	page, err := e.readByModel(ctx, img)
	_, unread := errors.AsType[*unreadError](err)
	spent := errors.Is(err, ocr.ErrTokens)
	if !unread && !spent || e.opts.Fallback == nil || ctx.Err() != nil {
		return page, err
	}
	usage := page.Usage
	page, other := e.opts.Fallback.Read(ctx, img)
	if other != nil {
		return ocr.Page{}, fmt.Errorf("%w; %s failed, too: %w", err, e.opts.Fallback.Name(), other)
	}
	page.Engine, page.Reason, page.Usage = e.opts.Fallback.Name(), err.Error(), usage
	page.Partial = page.Partial || spent
	return page, nil
}

// readByModel requests the page with one try after the other. Its page has the usage, also with an error.
func (e *Engine) readByModel(ctx context.Context, img ocr.Image) (ocr.Page, error) {
	var usage ocr.Usage
	var turned ocr.Rotation
	var last verdict
	for n := 0; n < Tries; n++ {
		if ocr.Spent(ctx) {
			return ocr.Page{Usage: usage}, ocr.ErrTokens
		}
		text, result, err := e.request(ctx, turned.Of(img), tries()[n], &usage)
		if err != nil {
			return ocr.Page{Usage: usage}, err
		}
		if result.problem == "" && result.rotation != 0 && turned == 0 { // read once more, rotated
			turned, last = result.rotation, verdict{problem: "the page is rotated"}
			continue
		}
		if result.problem == "" {
			return ocr.Page{Markdown: text, Paragraphs: ocr.Plain(text), Turned: turned, Usage: usage}, nil
		}
		last = result
		if result.final {
			break
		}
		if result.cut && n+1 < moreTokens {
			n = moreTokens - 1
		}
	}
	return ocr.Page{Usage: usage}, &unreadError{last.problem}
}

// request requests the page once and examines the answer.
func (e *Engine) request(ctx context.Context, img ocr.Image, t try, usage *ocr.Usage) (string, verdict, error) {
	picture, err := encode(sized(img.Gray, int(float64(e.opts.Side)*t.scale)))
	if err != nil {
		return "", verdict{}, err
	}
	a, err := e.chat.Ask(ctx, llm.Question{
		Text: e.prompt(), Images: []llm.Image{picture}, Temperature: t.temperature,
		MaxTokens: e.opts.MaxTokens * t.tokens,
	})
	if err != nil {
		if refusal, ok := errors.AsType[*taskerr.Error](err); ok && refusal.Class == taskerr.ValidationError {
			return "", verdict{problem: refusal.Message, final: true}, nil // the service rejects this image
		}
		return "", verdict{}, err
	}
	cost := ocr.Usage{Requests: 1, PromptTokens: a.PromptTokens, CompletionTokens: a.CompletionTokens}
	ocr.Spend(ctx, cost)
	*usage = usage.Add(cost)
	text, result := e.examine(a)
	return text, result, nil
}

// sized shrinks an image to fit.
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

// maxPNG is the size in bytes above which a page is sent as JPEG: it is a photograph or a noisy scan.
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
