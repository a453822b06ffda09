package epub

import (
	"context"
	"encoding/xml"
	"errors"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxLabel   = 1 << 10 // bytes
	maxEntries = 1 << 16
)

// entry is a line of the table of contents.
type entry struct {
	title string
	level int // from 1
}

// readContents reads the table of contents: the navigation document, or the NCX of EPUB 2. The text doesn't
// depend on it, so a missing or damaged one is ignored.
func (b *book) readContents(ctx context.Context) error {
	for part, read := range map[string]func(*ooxml.Decoder, string) error{b.nav: b.readNav, b.ncx: b.readNCX} {
		if part == "" || part == b.ncx && b.nav != "" {
			continue
		}
		err := ooxml.Optional(b.pkg.Read(ctx, part, func(d *ooxml.Decoder) error { return read(d, path.Dir(part)) }))
		if failed, ok := errors.AsType[*taskerr.Error](err); err != nil &&
			(!ok || failed.Class != taskerr.CorruptionDetected) {
			return err
		}
	}
	return nil
}

// readNav reads the navigation document (EPUB 3.3, 7): the lists of links in the nav of type toc.
func (b *book) readNav(d *ooxml.Decoder, base string) error {
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "nav" || !strings.Contains(" "+ooxml.Attr(start, "type")+" ", " toc ") {
			return nil
		}
		return b.links(d, base, 0)
	})
}

func (b *book) links(d *ooxml.Decoder, base string, level int) error {
	return d.Children(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "a":
			title, err := label(d)
			b.add(base, ooxml.Attr(start, "href"), title, level)
			return err
		case "ol":
			return b.links(d, base, level+1)
		}
		return b.links(d, base, level)
	}, nil)
}

// readNCX reads an NCX (OPF 2.0.1, 2.4.1).
func (b *book) readNCX(d *ooxml.Decoder, base string) error {
	return d.Each(func(start xml.StartElement) error {
		if start.Name.Local != "navMap" {
			return nil
		}
		return b.points(d, base, "", 0)
	})
}

func (b *book) points(d *ooxml.Decoder, base, title string, level int) error {
	return d.Children(func(start xml.StartElement) (err error) {
		switch start.Name.Local {
		case "navLabel":
			title, err = label(d)
			return err
		case "content":
			b.add(base, ooxml.Attr(start, "src"), title, level)
		case "navPoint":
			return b.points(d, base, "", level+1)
		}
		return d.Skip()
	}, nil)
}

// add stores an entry; the first entry of a page wins.
func (b *book) add(base, href, title string, level int) {
	part := resolve(base, href)
	if _, known := b.contents[part]; !known && len(b.contents) < maxEntries {
		b.contents[part] = entry{title: title, level: level}
	}
}

// label returns all text in an element.
func label(d *ooxml.Decoder) (string, error) {
	var text strings.Builder
	var read func() error
	read = func() error {
		return d.Children(
			func(xml.StartElement) error { return read() },
			func(piece []byte) error {
				text.Write(piece[:min(len(piece), maxLabel-text.Len())])
				return nil
			})
	}
	err := read()
	return strings.Join(strings.Fields(text.String()), " "), err
}
