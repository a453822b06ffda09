// Package html extracts web pages: the text that a reader sees, without navigation, page footer and hidden
// elements. The page is simplified while it is read, so that the tree in memory stays small whatever the size
// of its scripts, styles and attributes.
package html

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	webcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/transform"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	sniffBytes    = 64 << 10 // of a page, to compare it with its declaration
	declaredBytes = 1024     // of a page that are searched for an encoding declaration (WHATWG HTML, 13.2.3.2)
)

// maxOpen is the x/net parser's limit of nested open elements.
const maxOpen = 512

// New returns an extractor of web pages.
func New() extract.Extractor { return extract.Func("native/html", 5, read) }

func read(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (extract.Info, error) {
	rc, err := open(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = rc.Close() }() // read-only
	page := simplify(ctx, rc, 4*limits.Characters, limits)
	root, err := html.Parse(page)
	if err != nil {
		return extract.Info{}, explain(ctx, err)
	}
	info := extract.Info{Properties: map[string]string{}, Warnings: page.warnings()}
	describe(root, &info)
	w := &walker{ctx: ctx, emit: flow.Items(emit), chrome: hasHeading(root), resolve: relativeTo(root)}
	if err := w.walk(root); err != nil {
		return extract.Info{}, err
	}
	return info, w.flush()
}

// Fragment extracts a piece of HTML from within another document, of less than 256 KB. Errors are those of emit.
func Fragment(ctx context.Context, source string, emit extract.Emit) error {
	limits := extract.Limits{}.WithDefaults()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(simplify(ctx, strings.NewReader(source), len(source)+1, limits), body)
	if err != nil {
		return explain(ctx, err)
	}
	w := &walker{ctx: ctx, emit: flow.Items(emit)}
	for _, n := range nodes {
		if err := w.walk(n); err != nil {
			return err
		}
	}
	return w.flush()
}

func explain(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*taskerr.Error](err); ok || ctx.Err() != nil {
		return err
	}
	if strings.Contains(err.Error(), "open stack of elements exceeds") { // the parser exports no error value for it
		return taskerr.Errorf(taskerr.CorruptionDetected, "the page is nested deeper than %d elements: it is not read",
			maxOpen)
	}
	return taskerr.Errorf(taskerr.CorruptionDetected, "the page can't be read as HTML: %w", err)
}

// open returns the page as UTF-8 according to its byte order mark, its declaration, or its bytes, in this
// order. A declared Latin-1 is checked against the bytes: pages often keep it after their encoding changed.
func open(path string) (io.ReadCloser, error) {
	guessed, name, err := charset.Open(path)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(name), "utf-") && name != charset.UTF8 || name == charset.EBCDIC {
		return guessed, nil
	}
	file, err := os.Open(path)
	if err != nil {
		_ = guessed.Close() // read-only
		return nil, fmt.Errorf("open page: %w", err)
	}
	buffered := bufio.NewReaderSize(file, sniffBytes)
	head, _ := buffered.Peek(sniffBytes) // a short page is not an error
	// utf-8 or windows-1252 without a declaration
	encoding, declared, _ := webcharset.DetermineEncoding(head[:min(len(head), declaredBytes)], "")
	if declared == "utf-8" || declared == "windows-1252" || charset.Contradicted(head, charset.Name(declared)) != nil {
		_ = file.Close() // read-only
		return guessed, nil
	}
	_ = guessed.Close() // read-only
	return struct {
		io.Reader
		io.Closer
	}{transform.NewReader(buffered, encoding.NewDecoder()), file}, nil
}

// relativeTo returns how links are resolved in a page that states its own address (WHATWG HTML, 4.2.3); nil: it states
// none.
func relativeTo(root *html.Node) func(string) string {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Body {
			return nil
		}
		if n.DataAtom != atom.Base || !hasAttr(n, "href") {
			continue
		}
		base, err := url.Parse(extract.Target(attr(n, "href")))
		if err != nil || base.Host == "" {
			return nil
		}
		return func(href string) string {
			to, err := base.Parse(href)
			if err != nil || strings.HasPrefix(href, "#") {
				return href
			}
			return to.String()
		}
	}
	return nil
}

// metaNames maps the names of meta elements (HTML, Dublin Core, Open Graph) to properties.
var metaNames = map[string]string{
	"author": "author", "dc.creator": "author", "dcterms.creator": "author", "article:author": "author",
	"description": "description", "og:description": "description", "dc.description": "description",
	"dcterms.description": "description",
	"keywords":            "keywords", "dc.subject": "keywords", "dcterms.subject": "keywords", "generator": "producer",
	"dcterms.created": "created", "created": "created", "dcterms.modified": "modified",
	"article:modified_time": "modified", "last-modified": "modified",
	"date": "published", "dc.date": "published", "dcterms.date": "published", "dcterms.issued": "published",
	"article:published_time": "published",
}

// describe reads the page's title, language and metadata.
func describe(root *html.Node, info *extract.Info) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			info.Language = attr(n, "lang")
		case atom.Title:
			if info.Title == "" && n.FirstChild != nil {
				info.Title = strings.TrimSpace(n.FirstChild.Data)
			}
		case atom.Meta:
			property, content := propertyOf(n), attr(n, "content")
			if property == "author" && isAddress(content) {
				continue // article:author is an address of a profile (Open Graph protocol)
			}
			if property != "" && info.Properties[property] == "" {
				info.Properties[property] = content
			}
		case atom.Body:
			return
		}
	}
}

// propertyOf is the property that a meta element has; one for browsers and for Open Graph has two names. "": none.
func propertyOf(meta *html.Node) string {
	return cmp.Or(metaNames[strings.ToLower(attr(meta, "name"))], metaNames[strings.ToLower(attr(meta, "property"))])
}

func isAddress(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}
