package enrich

import (
	"math"
	"strings"
)

// Properties are what a document's metadata say of it. Empty fields were not stated, or made no sense.
type Properties struct {
	Author      string
	Subject     string
	Description string
	Keywords    string
	Publisher   string
	Producer    string // the program that made it
	Created     string // RFC 3339, UTC; a time without an offset is taken for UTC
	Modified    string // the same
	Published   string // the same; of a work, which may be older than its file
}

const maxProperty = 1 << 10 // bytes

// properties keeps those properties of an extractor that all formats have.
func properties(told map[string]string) Properties {
	text := func(names ...string) string {
		for _, name := range names {
			if value := strings.Join(strings.Fields(told[name]), " "); value != "" {
				return shorten(value, maxProperty)
			}
		}
		return ""
	}
	moment := func(earliest string, names ...string) string {
		for _, name := range names {
			if d := date(told[name], earliest); d != "" {
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

// Stated are the properties by their names, with what is to be known of how title, language and outline were found:
// title_source, language_confidence or language_source (metadata), languages, headings_omitted.
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
