package xml

import (
	"encoding/xml"
	"maps"
	"strings"
)

// role is what an element is in a document.
type role int

// The roles of elements. An unknown element's text belongs to the element around it.
const (
	none         role = iota
	skipped           // its content is not shown
	section           // its title is a heading below those of the sections around it
	title             // of the section around it; elsewhere a paragraph
	docTitle          // of the document
	paragraph         // also a line of verse or a field
	list              // bulleted
	numbered          // a numbered list
	item              // of a list
	table             //
	row               //
	cell              //
	headCell          // of a header row
	headRows          // the header rows of a table
	code              // keeps its lines
	lineBreak         //
	label             // the number of the title or text after it
	markup            // its text is HTML
	caption           // of a figure or a table: its titles and paragraphs are no headings
	field             // a part of a name, an address or a reference, apart from the element before it
	record            // a field whose elements are fields
	byline            // a paragraph whose elements are fields
	numbering         // a field of a reference; of the document itself, which is in an issue, it is not shown
	surname           // a field; of the document's people it comes after the given names
	givenName         // a field
	tex               // a formula in TeX
	formulas          // one formula in one language or in several
	float             // a figure, a table or a file with a label, which is a caption even without a title
	heading           // of its own level, in the section around it
	claim             // a paragraph whose paragraphs are lines
	facts             // only elements with a role are read in it
	columns           // names its columns
	column            // the name of one
	number            // a label within the text
	contribution      // what a person did: a field, but not shown if it is of a vocabulary
)

// dialect is a kind of documents: what its elements are, by their local names.
type dialect map[string]role

// The kinds by the names of their root elements.
var roots = map[string]dialect{
	"article": jats, "book": docbook, "chapter": docbook, "FictionBook": fictionBook, "rss": feed, "feed": feed,
	"RDF": feed, "topic": dita, "concept": dita, "task": dita, "reference": dita, "dita": dita, "tt": timedText,
	"TEI": tei, "Workbook": workbook, "us-patent-application": patent, "us-patent-grant": patent,
	"patent-application-publication": patentApplication, "PATDOC": patentGrant,
}

var (
	// jats is of journal articles (JATS and NLM); DocBook's articles share its names.
	jats = merged(docbook, dialect{ //nolint:gochecknoglobals // it doesn't change
		"journal-meta": skipped, "permissions": skipped, "article-id": skipped, "history": skipped, "pub-date": skipped,
		"custom-meta-group": skipped, "counts": skipped, "alternatives": formulas, "tex-math": tex, "graphic": skipped,
		"inline-formula": formulas, "disp-formula": paragraph, "article-categories": skipped, "alt-title": skipped,
		"contrib-id": skipped, "institution-id": skipped,
		"table-wrap": float, "fig": float, "supplementary-material": float, "fn-group": section, "glossary": section,
		"sec": section, "abstract": section, "trans-abstract": section, "ack": section,
		"notes": section, "app": section, "ref-list": section, "boxed-text": section,
		"title": title, "article-title": docTitle, "p": paragraph, "list": list, "list-item": item, "ref": item,
		"def-item": item, "contrib": byline, "aff": paragraph, "kwd-group": byline, "label": label, "caption": caption,
		"table": table, "tr": row, "td": cell, "th": headCell, "preformat": code, "break": lineBreak,
		"volume": numbering, "issue": numbering, "fpage": numbering, "lpage": numbering, "elocation-id": numbering,
		"thead": headRows, "name": record, "person-group": record, "element-citation": record, "string-name": record,
		"surname": surname, "given-names": givenName, "suffix": field, "kwd": field, "award-group": byline, "award-id": field,
		"funding-source": field, "principal-award-recipient": field, "role": contribution, "collab": field, "source": field, "year": field,
		"publisher-name": field,
		"publisher-loc":  field, "institution": field, "addr-line": field, "city": field, "country": field, "pub-id": field,
	})
	docbook = dialect{
		"section": section, "sect1": section, "sect2": section, "sect3": section, "sect4": section, "chapter": section,
		"part": section, "appendix": section, "preface": section, "info": none, "bookinfo": none, "articleinfo": none,
		"title": title, "para": paragraph, "simpara": paragraph, "itemizedlist": list, "orderedlist": numbered,
		"listitem": item, "varlistentry": item, "table": table, "informaltable": table, "row": row, "entry": cell,
		"programlisting": code, "screen": code, "literallayout": code, "author": paragraph, "date": paragraph,
		"figure": caption, "thead": headRows, "tgroup": columns, "colspec": column,
	}
	fictionBook = dialect{
		"binary": skipped, "stylesheet": skipped,
		"document-info": skipped, "publish-info": skipped, "custom-info": skipped, "src-title-info": skipped,
		"genre": skipped, "id": skipped, "section": section, "title": title, "book-title": docTitle, "subtitle": paragraph,
		"p": paragraph, "v": paragraph, "text-author": paragraph, "author": paragraph, "table": table, "tr": row, "td": cell,
		"th": headCell, "lang": skipped, "keywords": paragraph, "date": paragraph,
	}
	feed = dialect{
		"item": section, "entry": section, "channel": none, "title": title, "description": markup, "encoded": markup,
		"summary": markup, "content": markup, "subtitle": markup, "pubDate": paragraph, "published": paragraph,
		"updated": skipped, "lastBuildDate": skipped, "guid": skipped, "id": skipped, "ttl": skipped, "generator": skipped,
		"docs": skipped, "link": skipped, "author": paragraph, "creator": paragraph, "category": paragraph, "image": skipped,
		"language": skipped,
	}
	dita = dialect{
		"topic": section, "concept": section, "task": section, "reference": section, "section": section, "example": section,
		"title": title, "p": paragraph, "shortdesc": paragraph, "cmd": paragraph, "info": paragraph, "note": paragraph,
		"ul": list, "ol": numbered, "sl": list, "steps": numbered, "steps-unordered": list, "substeps": numbered, "li": item,
		"sli": item, "step": item, "substep": item, "dlentry": item, "table": table, "simpletable": table, "row": row,
		"strow": row, "entry": cell, "stentry": cell, "sthead": row, "codeblock": code, "pre": code, "prolog": skipped,
		"context": paragraph, "prereq": paragraph, "result": paragraph, "fig": caption, "thead": headRows, "tgroup": columns, "colspec": column,
	}
	timedText = dialect{"p": paragraph, "br": lineBreak, "head": skipped}
	tei       = dialect{
		"div": section, "div1": section, "div2": section, "head": title, "p": paragraph, "l": paragraph, "ab": paragraph,
		"list": list, "item": item, "table": table, "row": row, "cell": cell, "lb": lineBreak, "encodingDesc": skipped,
		"revisionDesc": skipped, "publicationStmt": skipped, "speaker": paragraph, "stage": paragraph,
	}
	// onePart is an Office document in one piece of XML: only the parts with text are read, without their styles.
	onePart = dialect{
		"package": facts, "part": facts, "xmlData": facts, "document": section, "sld": section, "hdr": section, "ftr": section,
		"footnotes": section, "endnotes": section, "comments": section, "binaryData": skipped, "p": paragraph,
		"tbl": table, "tr": row, "tc": cell, "br": lineBreak, "tab": lineBreak, "instrText": skipped, "delText": skipped,
		"del": skipped, "moveFrom": skipped, "posOffset": skipped, "align": skipped, "sizeRelH": skipped, "sizeRelV": skipped, "Fallback": skipped,
	}
	workbook = dialect{
		"Styles": skipped, "DocumentProperties": skipped, "OfficeDocumentSettings": skipped, "ExcelWorkbook": skipped,
		"WorksheetOptions": skipped, "Names": skipped, "Table": table, "Row": row, "Cell": cell, "Worksheet": section,
	}
)

// untitled are the headings of sections of an article or a patent that may have no title: publishers print these.
var untitled = map[string]string{
	"abstract": "Abstract", "subdoc-abstract": "Abstract", "SDOAB": "Abstract", "ack": "Acknowledgments",
	"claims": "Claims", "subdoc-claims": "Claims", "SDOCL": "Claims",
}

func merged(all ...dialect) dialect {
	out := dialect{}
	for _, d := range all {
		maps.Copy(out, d)
	}
	return out
}

// of returns the dialect of a document by its root element; nil: it isn't known.
func of(root xml.StartElement) dialect {
	if root.Name.Local == "package" && strings.HasSuffix(root.Name.Space, "office/2006/xmlPackage") {
		return onePart
	}
	d := roots[root.Name.Local]
	if root.Name.Local == "Workbook" && !strings.HasSuffix(root.Name.Space, "office:spreadsheet") {
		return nil
	}
	return d
}
