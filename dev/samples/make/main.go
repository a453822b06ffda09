// Command make writes the sample documents that are not plain text: harbour-handbook.pdf, invoice.pdf
// and pilot-boat-care.docx. Their text is in handbook.go, invoice.go and care.go; the other samples are written by
// hand. It uses the standard library alone and its output depends on nothing but the source:
//
//	go run ./dev/samples/make dev/samples
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "make:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: go run ./dev/samples/make FOLDER")
	}
	for name, make := range documents {
		content, err := make()
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(args[0], name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// documents are the makers by file name.
var documents = map[string]func() ([]byte, error){
	"harbour-handbook.pdf": func() ([]byte, error) { return renderPDF(handbookTitle, handbook), nil },
	"invoice.pdf":          func() ([]byte, error) { return renderPDF(invoiceTitle, invoice), nil },
	"pilot-boat-care.docx": func() ([]byte, error) { return renderDOCX(careTitle, care) },
}

// block is a piece of a document: a heading (level 1 to 3), a paragraph, a list, a table (its first
// row is the header) or the end of a page.
type block struct {
	level   int
	text    string // of a heading or paragraph
	items   []string
	ordered bool
	rows    [][]string
	widths  []float64 // of the columns, in points; for PDF
	newPage bool
}

func heading(level int, text string) block   { return block{level: level, text: text} }
func paragraph(text string) block            { return block{text: text} }
func list(items ...string) block             { return block{items: items} }
func steps(items ...string) block            { return block{items: items, ordered: true} }
func table(w []float64, r ...[]string) block { return block{rows: r, widths: w} }
func pageBreak() block                       { return block{newPage: true} }
