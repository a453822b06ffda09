package extract

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// Collect extracts a whole document into memory, for local files, rendering and tests.
func Collect(ctx context.Context, r Runner, src Source, limits Limits) (*Document, error) {
	doc := &Document{}
	info, err := r.Extract(ctx, src, limits, func(b Block) error {
		doc.Blocks = append(doc.Blocks, b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	doc.Info = info
	return doc, nil
}

// WriteJSON writes the document as one indented JSON object.
func WriteJSON(w io.Writer, doc *Document) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write document as JSON: %w", err)
	}
	return nil
}
