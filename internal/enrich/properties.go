package enrich

import (
	"math"
	"strings"
)

// Properties are the metadata that a document states. Empty fields were missing or implausible.
type Properties struct {
	Author      string
	Subject     string
	Description string
	Keywords    string
	Publisher   string
	Producer    string // the program that made the file
	Created     string // RFC 3339, UTC; a time without an offset is taken as UTC
	Modified    string // likewise
	Published   string // likewise; of the work, which may be older than its file
}

const maxProperty = 1 << 10 // bytes

// properties returns the properties from an extractor that all formats share.
func properties(metadata map[string]string) Properties {
	text := func(names ...string) string {
		for _, name := range names {
			if value := strings.Join(strings.Fields(metadata[name]), " "); value != "" {
				return shorten(value, maxProperty)
			}
		}
		return ""
	}
	moment := func(earliest string, names ...string) string {
		for _, name := range names {
			if d := date(metadata[name], earliest); d != "" {
				return d
			}
		}
		return ""
	}
	return Properties{
		Author: text("author"), Subject: text("subject"), Description: text("description"),
		Keywords:  text("keywords", "tags"),
		Publisher: text("publisher"), Producer: text("producer", "creator", "generator"),
		Created: moment(earliestFile, "created"), Modified: moment(earliestFile, "modified"),
		Published: moment(earliestPrint, "published", "date"),
	}
}

// Stated returns the properties by name, and how title, language and outline were determined: title_source,
// language_confidence or language_source (metadata), languages, headings_omitted.
func (d Document) Stated() map[string]any {
	all := map[string]any{}
	for name, value := range map[string]string{
		"author": d.Properties.Author, "subject": d.Properties.Subject, "description": d.Properties.Description,
		"keywords": d.Properties.Keywords, "publisher": d.Properties.Publisher, "producer": d.Properties.Producer,
		"created": d.Properties.Created, "modified": d.Properties.Modified, "published": d.Properties.Published,
		"title_source": string(d.TitleSource),
	} {
		if value != "" {
			all[name] = value
		}
	}
	switch {
	case d.Language.Stated:
		all["language_source"] = "metadata"
	case d.Language.Code != Unknown:
		all["language_confidence"] = math.Round(d.Language.Confidence*100) / 100
	}
	if len(d.Language.Shares) > 0 {
		all["languages"] = d.Language.Shares
	}
	if d.Outline.Omitted > 0 {
		all["headings_omitted"] = d.Outline.Omitted
	}
	return all
}
