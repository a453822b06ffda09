package rtf

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// author reads the rest of the group as the name of who wrote the comment that comes next.
func (r *reader) author() {
	r.commenter = ""
	r.readText(func(name string) { r.commenter = strings.TrimSpace(name) })
}

// comment reads the rest of the group as a comment, which follows the paragraph that it is about.
func (r *reader) comment() {
	if r.to != body {
		r.to = skipped
		return
	}
	author, hidden := r.commenter, r.hidden || r.gone
	r.commenter = ""
	r.within(func(blocks []extract.Block) error {
		text := ooxml.Comment(author, "", extract.CellOf(blocks).Text)
		if text == "" || hidden {
			return nil
		}
		r.story.boxes = append(r.story.boxes, extract.Block{Kind: extract.Paragraph, Text: text})
		return nil
	})
}
