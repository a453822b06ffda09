package reindex

import (
	"context"
	"fmt"
)

// Format is how books are rendered.
type Format struct {
	Name   string
	Render func(b Book, saved string) []byte // saved goes where there is no text
	Saved  bool                              // the format has such a place
}

// Formats are one with pages, and one without.
var Formats = []Format{
	{Name: "book.pdf", Render: Book.PDF, Saved: true},
	{Name: "book.md", Render: func(b Book, _ string) []byte { return b.Markdown() }},
}

// Row is one ingest of a document that is indexed already, and its limits.
type Row struct {
	Name string
	Cost
	Gate      string  // where it must end: "etag", "bytes", "text"; "": at the chunks
	Limit     float64 // the share of chunks that may be embedded, 0-1
	Downloads bool    // the blob has to be read
}

// Share is the share of chunks that were embedded, 0-1.
func (r Row) Share() float64 { return float64(r.ModelInputs) / float64(max(r.Chunks, 1)) }

// CheckLimits returns an error if the row exceeds its limits.
func (r Row) CheckLimits() error {
	switch {
	case r.Gate != "" && (!r.Unchanged || r.ModelCalls != 0 || r.ChunkRows != 0):
		return fmt.Errorf("%s: %d model calls and %d chunk rows written (unchanged: %t), want none", r.Name,
			r.ModelCalls, r.ChunkRows, r.Unchanged)
	case r.Downloads != (r.Bytes > 0):
		return fmt.Errorf("%s: %d bytes downloaded", r.Name, r.Bytes)
	case r.Share() > r.Limit:
		return fmt.Errorf("%s: %d of %d chunks were embedded, that is %.1f %%, more than %.0f %%", r.Name,
			r.ModelInputs, r.Chunks, 100*r.Share(), 100*r.Limit)
	case int64(r.Embedded) != r.ModelInputs || r.Embedded+r.Reused != r.Chunks:
		return fmt.Errorf("%s: it reports %d embedded and %d reused of %d chunks, the model got %d", r.Name, r.Embedded,
			r.Reused, r.Chunks, r.ModelInputs)
	}
	return nil
}

// Measure ingests the book of a seed, and then again after each kind of change, each on top of the last. It calls report
// with each row.
func Measure(ctx context.Context, r *Rig, f Format, seed uint64, report func(Row) error) error {
	book := NewBook(seed)
	name := fmt.Sprintf("%d/%s", seed, f.Name)
	again := func(row Row) error {
		var err error
		if row.Cost, err = r.Ingest(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
		return report(row)
	}
	upload := func(b Book, saved string, row Row) error {
		if err := r.Put(ctx, name, f.Render(b, saved)); err != nil {
			return err
		}
		row.Downloads = true
		return again(row)
	}
	if err := upload(book, "first", Row{Name: "the first time", Limit: 1}); err != nil {
		return err
	}
	if err := again(Row{Name: "unchanged", Gate: "etag"}); err != nil {
		return err
	}
	if err := upload(book, "first", Row{Name: "the same bytes uploaded again", Gate: "bytes"}); err != nil {
		return err
	}
	if f.Saved {
		if err := upload(book, "second", Row{Name: "the same text saved again", Gate: "text"}); err != nil {
			return err
		}
	}
	for _, e := range Edits {
		book = e.Make(book)
		if err := upload(book, "first", Row{Name: e.Name, Limit: e.Limit}); err != nil {
			return err
		}
	}
	return nil
}
