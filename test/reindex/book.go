package reindex

import (
	"slices"
	"strings"
)

// The size of a book.
const (
	wordsPerPage = 420
	pagesPerPart = 4
	hundred      = 25 // parts of a book of 100 pages
)

// part is a heading and its paragraphs; the first part of a book may have no heading.
type part struct {
	heading    string
	paragraphs []string
}

// Book is a document of parts, each of about four pages.
type Book struct {
	title string
	parts []part
	edits author
}

// NewBook writes the book of a seed, of about 100 pages.
func NewBook(seed uint64) Book { return NewBookOf(seed, hundred) }

// NewBookOf writes a book of this many parts.
func NewBookOf(seed uint64, parts int) Book {
	a := newAuthor(seed, 1)
	b := Book{title: a.heading(), edits: newAuthor(seed, 2)}
	for range parts {
		b.parts = append(b.parts, part{a.heading(), a.pages(pagesPerPart)})
	}
	return b
}

// pages writes paragraphs that fill this many pages.
func (a author) pages(n int) (paragraphs []string) {
	for words := 0; words < n*wordsPerPage; {
		p := a.paragraph()
		words += strings.Count(p, " ") + 1
		paragraphs = append(paragraphs, p)
	}
	return paragraphs
}

func (b Book) clone() Book {
	b.parts = slices.Clone(b.parts)
	for i := range b.parts {
		b.parts[i].paragraphs = slices.Clone(b.parts[i].paragraphs)
	}
	return b
}

// somewhere picks a part and a paragraph of it.
func (b Book) somewhere() (p *part, at int) {
	p = &b.parts[b.edits.IntN(len(b.parts))]
	return p, b.edits.IntN(len(p.paragraphs))
}

// Edit is a change of a book. Each call chooses another place.
type Edit struct {
	Name  string
	Limit float64 // the share of chunks that may be embedded, 0-1
	Make  func(Book) Book
}

// Edits are typical ones. The promise is about a changed paragraph and a page at the front. A paragraph more or
// less moves the ends of all pages up to the next part; a moved part keeps its chunks.
var Edits = []Edit{
	{"one paragraph changed", 0.03, func(b Book) Book {
		b = b.clone()
		p, at := b.somewhere()
		p.paragraphs[at] = b.edits.paragraph()
		return b
	}},
	{"one sentence changed", 0.03, func(b Book) Book {
		b = b.clone()
		p, at := b.somewhere()
		_, rest, _ := strings.Cut(p.paragraphs[at], ". ")
		p.paragraphs[at] = b.edits.sentence() + " " + rest
		return b
	}},
	{"one paragraph inserted", 0.05, func(b Book) Book {
		b = b.clone()
		p, at := b.somewhere()
		p.paragraphs = slices.Insert(p.paragraphs, at, b.edits.paragraph())
		return b
	}},
	{"one paragraph removed", 0.05, func(b Book) Book {
		b = b.clone()
		p, at := b.somewhere()
		p.paragraphs = slices.Delete(p.paragraphs, at, at+1)
		return b
	}},
	{"one page at the front", 0.05, func(b Book) Book {
		b = b.clone()
		b.parts = slices.Insert(b.parts, 0, part{paragraphs: b.edits.pages(1)})
		return b
	}},
	{"one part moved", 0.01, func(b Book) Book {
		b = b.clone()
		from, to := b.edits.IntN(len(b.parts)-1), len(b.parts)-1
		moved := b.parts[from]
		b.parts = slices.Insert(slices.Delete(b.parts, from, from+1), to, moved)
		return b
	}},
}

// Markdown renders the book.
func (b Book) Markdown() []byte {
	var out strings.Builder
	for _, p := range b.parts {
		if p.heading != "" {
			out.WriteString("# " + p.heading + "\n\n")
		}
		for _, text := range p.paragraphs {
			out.WriteString(text + "\n\n")
		}
	}
	return []byte(out.String())
}
