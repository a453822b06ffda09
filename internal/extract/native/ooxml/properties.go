package ooxml

import (
	"context"
	"encoding/xml"
	"strings"
)

const maxProperty = 1 << 10 // bytes

// Properties returns the non-empty core properties: title, author, subject, description, keywords, created,
// modified, language; and producer, the program that made the file.
func (p *Package) Properties(ctx context.Context) (map[string]string, error) {
	names := map[string]string{
		"title": "title", "creator": "author", "subject": "subject", "description": "description",
		"keywords": "keywords", "created": "created", "modified": "modified", "language": "language",
	}
	properties := map[string]string{}
	if err := p.properties(ctx, "docProps/core.xml", names, properties); err != nil {
		return properties, err
	}
	return properties, p.properties(ctx, "docProps/app.xml", map[string]string{"Application": "producer"}, properties)
}

// properties reads the named elements of a part, if it exists.
func (p *Package) properties(ctx context.Context, part string, names, properties map[string]string) error {
	err := p.Read(ctx, part, func(d *Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			name, ok := names[start.Name.Local]
			if !ok {
				return nil
			}
			text, err := d.Text(maxProperty)
			if text = strings.TrimSpace(text); text != "" {
				properties[name] = text
			}
			return err
		})
	})
	return Optional(err)
}
