// Package reading makes blocks of the text that an OCR engine read on a page.
package reading

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/ocr"
)

// Blocks emits a page's blocks: those of its Markdown if the engine returned it, otherwise a paragraph for each
// paragraph of the page, with its words. The error is emit's, or the cause of the context's end.
func Blocks(ctx context.Context, p ocr.Page, number int, emit func(b extract.Block, words ocr.Paragraph) error) error {
	if p.Markdown != "" {
		return markdown.New().Blocks(ctx, p.Markdown, func(b extract.Block) error {
			b.Page = number
			return emit(b, nil)
		})
	}
	for _, paragraph := range p.Paragraphs {
		b := extract.Block{Kind: extract.Paragraph, Text: extract.Clean(paragraph.Text()), Page: number}
		if box := paragraph.Box(); box.Known() {
			b.Box = new(extract.Box(box))
		}
		if err := emit(b, paragraph); err != nil {
			return err
		}
	}
	return nil
}
