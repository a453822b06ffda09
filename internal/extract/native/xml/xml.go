// Package xml extracts XML documents. Those of known kinds (journal articles, DocBook, FictionBook, feeds, DITA, TEI,
// timed text, Excel 2003, patents) have headings, lists and tables; OpenDocument and Word files in one piece of XML are
// read by the extractors of the packaged formats. Of others the texts are read, without tags. Documents that use entities
// with others in them, or with another file's content, are refused, so that nothing expands and no other file is read.
package xml

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

// New returns an extractor of XML documents. all reads pages of HTML in feeds, and OpenDocument and Word files.
func New(all nested.All) extract.Extractor {
	return extract.Func("native/xml", 9, func(
		ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
	) (extract.Info, error) {
		return read(ctx, all, src, limits, emit)
	})
}

func read(
	ctx context.Context, all nested.All, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	file, err := os.Open(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("open document: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	err = ooxml.ReadStream(ctx, readable(file), limits.XMLDepth, func(d *ooxml.Decoder) error {
		root, err := start(d)
		if err != nil {
			return err
		}
		if p := packageOf(root); p != nil {
			info, err = p.read(ctx, all, src, limits, emit)
			return err
		}
		w := &walker{dialect: of(root), out: flow.New(emit, limits.Characters)}
		w.html = func(page string, level int) error { return html(ctx, all, src, limits, page, level, w.out.Block) }
		err = w.document(d, root)
		info.Title = w.title
		return err
	})
	return info, err
}

// readable returns XML whose declaration the parser understands: in EBCDIC or with a wrong label it would be damaged.
func readable(r io.Reader) io.Reader {
	head := make([]byte, 64<<10)
	n, _ := io.ReadFull(r, head) // the parser reports what can't be read
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), r)
	if name, _ := charset.Detect(head); name == charset.EBCDIC {
		return charset.EBCDIC.Decoder().Reader(whole)
	}
	return whole
}

// start reads up to the root element.
func start(d *ooxml.Decoder) (xml.StartElement, error) {
	for {
		token, err := d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return xml.StartElement{}, err
		}
		switch t := token.(type) {
		case xml.Directive:
			if err := declare(d, t); err != nil {
				return xml.StartElement{}, err
			}
		case xml.StartElement:
			return t.Copy(), nil
		}
	}
}

// html emits a page, whose headings come below those of the level. What is not HTML is a text.
func html(
	ctx context.Context, all nested.All, src extract.Source, limits extract.Limits, page string, level int,
	emit extract.Emit,
) error {
	if !strings.ContainsAny(page, "<&") {
		return emit(extract.Block{Kind: extract.Paragraph, Text: joined(page)})
	}
	dir, err := os.MkdirTemp(src.TempDir, "xml-")
	if err != nil {
		return fmt.Errorf("make a folder for a page: %w", err)
	}
	path := filepath.Join(dir, "page.html")
	if err = os.WriteFile(path, []byte("\xEF\xBB\xBF"+page), 0o600); err == nil {
		_, err = all.Extract(ctx, extract.Source{Path: path, Format: extract.HTML, TempDir: src.TempDir}, limits,
			func(b extract.Block) error {
				b.Level = nested.Below(b, level)
				if b.Kind == extract.Heading {
					b.Level = min(b.Level, 6)
				}
				return emit(b)
			})
	}
	return errors.Join(err, os.RemoveAll(dir))
}
