package epub

import (
	"context"
	"encoding/xml"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const maxProperty = 1 << 10 // bytes

// book is the content of the package document.
type book struct {
	pkg        *ooxml.Package
	base       string // folder of the package document
	items      map[string]item
	spine      []string // parts in reading order, each once
	listed     map[string]bool
	contents   map[string]entry // of the table of contents, by part
	properties map[string]string
	nav, ncx   string // the parts of the table of contents
	warnings   []string
}

// item is an entry of the manifest.
type item struct{ part, media string }

// open reads the container, the package document and the table of contents.
func open(ctx context.Context, pkg *ooxml.Package) (*book, error) {
	b := &book{
		pkg: pkg, items: map[string]item{}, listed: map[string]bool{}, contents: map[string]entry{},
		properties: map[string]string{},
	}
	root, err := container(ctx, pkg)
	if err != nil {
		return nil, err
	}
	b.base = path.Dir(root)
	if err := pkg.Read(ctx, root, b.read); err != nil {
		return nil, missing(err)
	}
	if len(b.spine) == 0 {
		return nil, taskerr.Errorf(taskerr.CorruptionDetected,
			"the book lists no pages: it is damaged; upload it again")
	}
	if err := b.refuseEncrypted(ctx); err != nil {
		return nil, err
	}
	return b, b.readContents(ctx)
}

// container returns the name of the package document (EPUB Open Container Format 3.3, 4.2.6.3.1).
func container(ctx context.Context, pkg *ooxml.Package) (root string, err error) {
	err = pkg.Read(ctx, "META-INF/container.xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			if start.Name.Local == "rootfile" && root == "" {
				root = resolve("", ooxml.Attr(start, "full-path"))
			}
			return nil
		})
	})
	if err == nil && root == "" {
		err = fs.ErrNotExist
	}
	return root, missing(err)
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return taskerr.Errorf(taskerr.CorruptionDetected,
			"the book has no package document: it is damaged; upload it again")
	}
	return err
}

// read reads the package document: metadata, manifest, spine.
func (b *book) read(d *ooxml.Decoder) error {
	return d.Each(func(start xml.StartElement) error {
		switch start.Name.Local {
		case "item":
			b.manifest(start)
			return nil
		case "itemref":
			it := b.items[ooxml.Attr(start, "idref")]
			if readable(it.media) && !b.listed[it.part] {
				b.listed[it.part] = true
				b.spine = append(b.spine, it.part)
			}
			return nil
		case "spine":
			b.ncx = b.items[ooxml.Attr(start, "toc")].part
			return nil
		}
		return b.metadata(d, start)
	})
}

func readable(media string) bool {
	switch media {
	case "application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml":
		return true
	}
	return false
}

func (b *book) manifest(start xml.StartElement) {
	it := item{
		part: resolve(b.base, ooxml.Attr(start, "href")), media: strings.ToLower(ooxml.Attr(start, "media-type")),
	}
	b.items[ooxml.Attr(start, "id")] = it
	for property := range strings.FieldsSeq(ooxml.Attr(start, "properties")) {
		if property == "nav" {
			b.nav = it.part
		}
	}
}

// metadata reads a Dublin Core element or the modification date.
func (b *book) metadata(d *ooxml.Decoder, start xml.StartElement) error {
	names := map[string]string{
		"title": "title", "creator": "author", "language": "language", "date": "published", "publisher": "publisher",
		"description": "description", "subject": "keywords",
	}
	property := ""
	switch {
	case strings.Contains(start.Name.Space, "purl.org/dc/"):
		property = names[strings.ToLower(start.Name.Local)]
	case start.Name.Local == "meta" && ooxml.Attr(start, "property") == "dcterms:modified":
		property = "modified"
	case start.Name.Local == "meta" && ooxml.Attr(start, "name") == "generator": // EPUB 2
		content := ooxml.Attr(start, "content")
		b.properties["producer"] = content[:min(len(content), maxProperty)]
	}
	if property == "" {
		return nil
	}
	text, err := d.Text(maxProperty)
	text = strings.Join(strings.Fields(text), " ")
	before := b.properties[property]
	switch {
	case text == "":
	case before == "":
		b.properties[property] = text
	case (property == "author" || property == "keywords") && len(before)+len(text) < maxProperty:
		b.properties[property] = before + ", " + text
	}
	return err
}

// obfuscations are the font encryptions that need no key (EPUB 3.3, 4.4; Adobe's own).
var obfuscations = map[string]bool{"http://www.idpf.org/2008/embedding": true, "http://ns.adobe.com/pdf/enc#RC": true}

// refuseEncrypted fails if a page of the book is encrypted with a key.
func (b *book) refuseEncrypted(ctx context.Context) error {
	algorithm := ""
	err := b.pkg.Read(ctx, "META-INF/encryption.xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			switch start.Name.Local {
			case "EncryptedData":
				algorithm = ""
			case "EncryptionMethod":
				if algorithm == "" {
					algorithm = ooxml.Attr(start, "Algorithm")
				}
			case "CipherReference":
				if !obfuscations[algorithm] && b.listed[resolve("", ooxml.Attr(start, "URI"))] {
					return taskerr.Errorf(taskerr.CorruptionDetected,
						"the book is protected by digital rights management (DRM), so its text can't be read: "+
							"upload a copy without it")
				}
			}
			return nil
		})
	})
	return ooxml.Optional(err)
}

// resolve returns the part that a reference points to, without its fragment.
func resolve(base, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return strings.TrimPrefix(path.Join("/", base, href), "/")
}
