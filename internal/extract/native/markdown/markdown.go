// Package markdown extracts Markdown (CommonMark with GitHub's extensions, front matter, footnotes). Blocks
// hold plain text: what emphasis, links and the like show. A long file is read in slices, so that its tree
// never has to fit into memory.
package markdown

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Extractor reads Markdown.
type Extractor struct{ parser, withoutTables parser.Parser }

// New returns an Extractor.
func New() Extractor {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, footnotes{}, extension.DefinitionList))
	plain := goldmark.New(goldmark.WithExtensions(
		extension.Linkify, extension.Strikethrough, extension.TaskList, footnotes{}, extension.DefinitionList,
	))
	return Extractor{md.Parser(), plain.Parser()}
}

// Name implements extract.Extractor.
func (Extractor) Name() string { return "native/markdown" }

// Version implements extract.Extractor.
func (Extractor) Version() int { return 6 }

// Extract implements extract.Extractor. The title is that of the front matter.
func (e Extractor) Extract(
	ctx context.Context, src extract.Source, _ extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	defined, err := definitionsOf(ctx, src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	rc, _, err := charset.Open(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = rc.Close() }() // read-only
	info := extract.Info{Format: src.Format, Extractor: "native/markdown"}
	s := &slicer{lines: bufio.NewReaderSize(rc, maxLine)}
	for first := true; ; first = false {
		if ctx.Err() != nil {
			return extract.Info{}, context.Cause(ctx)
		}
		part, err := s.next()
		if _, ok := errors.AsType[*taskerr.Error](err); ok {
			return extract.Info{}, err
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return extract.Info{}, taskerr.Errorf(taskerr.CorruptionDetected, "the text can't be read to its end: %w",
				err)
		}
		if first {
			part.text, info.Properties = frontMatter(part.text)
			info.Title = info.Properties["title"]
			delete(info.Properties, "title")
		}
		if err := e.blocks(ctx, part, defined, emit); err != nil {
			return extract.Info{}, err
		}
		if err != nil {
			return info, nil // the slice was the last
		}
	}
}

// Blocks emits the blocks of a text in memory, for example a model's transcript of a page.
func (e Extractor) Blocks(ctx context.Context, text string, emit extract.Emit) error {
	defined, err := scan(ctx, strings.NewReader(text))
	if err != nil {
		return err
	}
	return e.blocks(ctx, slice{text: []byte(text)}, defined, emit)
}

func (e Extractor) blocks(ctx context.Context, part slice, defined definitions, emit extract.Emit) error {
	source := bytes.ReplaceAll(part.text, []byte{0}, nil)
	known := parser.NewContext()
	for _, link := range defined.links {
		known.AddReference(link)
	}
	known.Set(notesKey, defined.notes)
	p := e.parser
	if cells(source) > maxCells {
		p = e.withoutTables
	}
	root := p.Parse(text.NewReader(source), parser.WithContext(known))
	w := &walker{ctx: ctx, parser: p, links: known, source: source, emit: emit, known: defined.notes}
	if part.continued {
		w.continued, _ = root.FirstChild().(*east.Table)
	}
	if err := w.blocks(root, 0); err != nil {
		return err
	}
	return w.footnotes()
}

// maxCells is how many cells the tables of a slice may have.
const maxCells = 100_000

// cells returns how many cells the tables of a text have at most. The parser fills up each row to the columns of the
// line below the header: with empty rows, 64 KB would be a hundred million cells.
func cells(source []byte) (sum int) {
	columns := 0
	for line := range bytes.Lines(source) {
		switch line = bytes.Trim(line, " \t\r\n"); {
		case len(line) == 0:
			columns = 0
		case len(bytes.Trim(line, " \t\r\f\v-|:>")) == 0:
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
		sum += columns
	}
	return sum
}
