package structure

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// spanned is a cell of a table's grid.
type spanned struct {
	extract.Cell
	covered bool // by a cell to the left or above
	left    bool // the covering cell begins in this row
}

// attributes are those of a cell in a table of a slide.
func (c spanned) attributes() (all string) {
	if c.ColSpan > 1 {
		all += fmt.Sprintf(` gridSpan="%d"`, c.ColSpan)
	}
	if c.RowSpan > 1 {
		all += fmt.Sprintf(` rowSpan="%d"`, c.RowSpan)
	}
	switch {
	case c.covered && c.left:
		all += ` hMerge="1"`
	case c.covered:
		all += ` vMerge="1"`
	}
	return all
}

// filled returns the rows of a table with a cell at each place.
func filled(t *extract.Table) [][]spanned {
	columns := width(t)
	grid := make([][]spanned, len(t.Rows))
	for r := range grid {
		grid[r] = make([]spanned, columns)
	}
	for r, row := range t.Rows {
		c := 0
		for _, cell := range row {
			for c < columns && grid[r][c].covered {
				c++
			}
			for i := range max(1, cell.RowSpan) {
				for j := range max(1, cell.ColSpan) {
					grid[r+i][c+j] = spanned{covered: true, left: i == 0}
				}
			}
			grid[r][c] = spanned{Cell: cell}
			c += max(1, cell.ColSpan)
		}
	}
	return grid
}

func relation(id int, kind, target string) string {
	return fmt.Sprintf(`<Relationship Id="rId%d" Type="%s/%s" Target="%s"/>`, id, officeRels, kind, target)
}

func override(part, kind string) string {
	return `<Override PartName="` + part + `" ContentType="application/vnd.openxmlformats-officedocument.` + kind + `"/>`
}

func contentTypesOf(overrides string) string {
	return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` + overrides + `</Types>`
}

// zipped writes parts by name, so that the same parts make the same file.
func zipped(z *zip.Writer, parts map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, parts[name])
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return z.Close()
}

// EPUB writes a document as an electronic book.
func EPUB(w io.Writer, d *Document) error {
	page := strings.Replace(HTML(d), "<!DOCTYPE html>", `<?xml version="1.0" encoding="UTF-8"?>`, 1)
	return zipped(zip.NewWriter(w), map[string]string{
		"mimetype": "application/epub+zip",
		"META-INF/container.xml": `<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>` +
			`<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
		"book.opf": `<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest>` +
			`<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>`,
		"a.xhtml": page,
	})
}

// Packages writes a document in the zipped formats that suit it: PPTX, XLSX and EPUB.
func Packages(dir string, d *Document) ([]File, error) {
	var files []File
	write := func(format string, d *Document, to func(io.Writer, *Document) error) error {
		if d == nil {
			return nil
		}
		var b bytes.Buffer
		if err := to(&b, d); err != nil {
			return err
		}
		path := filepath.Join(dir, d.Name()+"."+format)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write a document: %w", err)
		}
		files = append(files, File{d, "source", format, path})
		return nil
	}
	if err := write("epub", d, EPUB); err != nil {
		return nil, err
	}
	if d.Kind != "code" { // slides have no code
		if err := write("pptx", Slides(d), PPTX); err != nil {
			return nil, err
		}
	}
	return files, write("xlsx", Sheets(d, 2), XLSX)
}

// packages writes all documents in zipped formats, and converts them to OpenDocument by LibreOffice.
func (t Tools) packages(ctx context.Context, dir string, docs []*Document) ([]File, error) {
	var files []File
	for _, d := range docs {
		written, err := Packages(dir, d)
		if err != nil {
			return nil, err
		}
		files = append(files, written...)
	}
	for from, to := range map[string]string{"pptx": "odp", "xlsx": "ods"} {
		var inputs []string
		for _, f := range slices.Clone(files) {
			if f.Format != from {
				continue
			}
			d := f.Document
			if to == "ods" { // the names of sheets are top headings there
				d = Sheets(d, 1)
			}
			inputs = append(inputs, f.Path)
			files = append(files, File{d, "libreoffice", to, filepath.Join(dir, "libreoffice", d.Name()+"."+to)})
		}
		if err := t.convert(ctx, dir, to, inputs); err != nil {
			return nil, err
		}
	}
	return files, nil
}
