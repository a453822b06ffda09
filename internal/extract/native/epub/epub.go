// Package epub extracts electronic books (EPUB 2 and 3): the pages of the spine, in order, with the HTML
// extractor.
package epub

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/html"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	name       = "native/epub"
	maxHeading = 6
)

// New returns an extractor of electronic books. A book has no pages before it is laid out.
func New() extract.Extractor { return ooxml.Extractor(name, 5, read) }

func read(
	ctx context.Context, pkg *ooxml.Package, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	b, err := open(ctx, pkg)
	if err != nil {
		return extract.Info{}, err
	}
	for _, part := range b.spine {
		if err := b.chapter(ctx, part, limits, emit); err != nil {
			return extract.Info{}, err
		}
	}
	return extract.Info{
		Language: b.properties["language"], Properties: b.properties, Warnings: slices.Compact(b.warnings),
	}, nil
}

// chapter reads one page. A page without a heading gets its title from the table of contents.
func (b *book) chapter(ctx context.Context, part string, limits extract.Limits, emit extract.Emit) error {
	rc, err := b.pkg.Part(part)
	if errors.Is(err, fs.ErrNotExist) {
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the book lists a page that the file does not have: the file is damaged; upload it again")
	}
	if err != nil {
		return err
	}
	defer func() { _ = rc.Close() }() // read-only
	page, err := html.ParsePage(ctx, decode(rc), limits)
	if err != nil {
		return err
	}
	b.warnings = append(b.warnings, page.Warnings()...)
	entry := b.contents[part]
	if entry.title == "" || page.HasHeading() {
		return page.Emit(ctx, within(part), emit)
	}
	heading := extract.Block{Kind: extract.Heading, Level: min(max(entry.level, 1), maxHeading), Text: entry.title}
	first := true
	return page.Emit(ctx, within(part), func(block extract.Block) error {
		if !first {
			return emit(block)
		}
		first = false
		if err := emit(heading); err != nil {
			return err
		}
		if sameText(block.Text, entry.title) { // the title is there, as a paragraph
			return nil
		}
		return emit(block)
	})
}

// within returns how links in a page of the book are resolved: another page is "#" and the name of its part.
func within(page string) func(string) string {
	return func(href string) string {
		u, err := url.Parse(href)
		if err != nil || u.Scheme != "" || u.Host != "" || strings.HasPrefix(href, "#") {
			return href
		}
		target := "#" + resolve(path.Dir(page), href)
		if u.Fragment != "" {
			target += "#" + u.Fragment
		}
		return target
	}
}

func sameText(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

var declared = pattern.New(`^\s*<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)["']`)

// decode returns a page as UTF-8, according to its byte order mark or its XML declaration.
func decode(r io.Reader) io.Reader {
	buffered := bufio.NewReader(r)
	head, _ := buffered.Peek(200) // a short page is not an error
	if len(head) > 1 && (head[0] == 0xFE && head[1] == 0xFF || head[0] == 0xFF && head[1] == 0xFE) {
		return transform.NewReader(buffered, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	}
	if label := declared.FindSubmatch(head); label != nil {
		if decoded, err := charset.NewReaderLabel(string(label[1]), buffered); err == nil {
			return decoded
		}
	}
	return transform.NewReader(buffered, unicode.UTF8BOM.NewDecoder())
}
