package odf

import (
	"context"
	"encoding/xml"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
)

const maxProperty = 1 << 10 // bytes

// readMeta returns the non-empty metadata: title, author, subject, description, keywords, created, modified,
// language, producer.
func readMeta(ctx context.Context, pkg *ooxml.Package) (map[string]string, error) {
	names := map[string]string{
		"title": "title", "initial-creator": "author", "creator": "editor", "subject": "subject",
		"description": "description",
		"keyword":     "keywords", "creation-date": "created", "date": "modified", "language": "language",
		"generator": "producer",
	}
	properties := map[string]string{}
	err := pkg.Read(ctx, "meta.xml", func(d *ooxml.Decoder) error {
		return d.Each(func(start xml.StartElement) error {
			property, ok := names[start.Name.Local]
			if !ok {
				return nil
			}
			text, err := d.Text(maxProperty)
			text = strings.TrimSpace(text)
			if text == "" || len(properties[property])+len(text) > maxProperty {
				return err
			}
			if before := properties[property]; before != "" && property == "keywords" {
				text = before + ", " + text
			}
			properties[property] = text
			return err
		})
	})
	if properties["author"] == "" && properties["editor"] != "" {
		properties["author"] = properties["editor"]
	}
	delete(properties, "editor")
	return properties, ooxml.Optional(err)
}
