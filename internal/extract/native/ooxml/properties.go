package ooxml

import (
	"context"
	"encoding/xml"
	"regexp"
	"strings"
)

const maxProperty = 1 << 10 // bytes

// Properties returns the core properties that are filled in: title, author, subject, description,
// keywords, created, modified, language.
func (p *Package) Properties(ctx context.Context) (map[string]string, error) {
	names := map[string]string{
		"title": "title", "creator": "author", "subject": "subject", "description": "description",
		"keywords": "keywords", "created": "created", "modified": "modified", "language": "language",
	}
	properties := map[string]string{}
	err := p.Read(ctx, "docProps/core.xml", func(d *Decoder) error {
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
	return properties, Optional(err)
}

// meaningless are the titles that programs fill in by themselves.
var meaningless = regexp.MustCompile(`(?i)^(?:microsoft (?:word|powerpoint|excel) - .*|untitled.*|document\s*\d*|dokument\s*\d*|powerpoint[ -].*|presentation\s*\d*|title|titel|.*\.(?:docx?|pptx?|xlsx?|dotx?|rtf))$`)

// Title is the title among the properties; "" when it says nothing.
func Title(properties map[string]string) string {
	title := properties["title"]
	if meaningless.MatchString(title) {
		return ""
	}
	return title
}
