package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// WithFiles returns inner, an extractor of PDF files, with the comments on each page after its text, and with the
// files that are embedded in the document or attached to its pages, after its end.
func WithFiles(inner extract.Extractor, all nested.All) extract.Extractor {
	return &withFiles{inner, all}
}

type withFiles struct {
	extract.Extractor
	all nested.All
}

// Version also covers what is added.
func (w *withFiles) Version() int { return w.Extractor.Version() + 1 }

// Extract implements extract.Extractor.
func (w *withFiles) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	limits = limits.WithDefaults()
	found, err := scan(ctx, src)
	if err != nil {
		return extract.Info{}, err
	}
	files := nested.New(ctx, w.all, src, limits, emit)
	defer func() { err = errors.Join(err, files.Close()) }()
	files.Mention = "Attachment: "
	margin := &comments{notes: found.Notes, put: files.Put}
	if info, err = w.Extractor.Extract(ctx, src, limits, margin.block); err != nil {
		return info, err
	}
	if err := margin.until(info.Pages + 1); err != nil {
		return extract.Info{}, err
	}
	if found.Files || found.Encrypted || found.Partly {
		if err := detach(ctx, src, limits, files); err != nil {
			return extract.Info{}, failure(err)
		}
	}
	if found.Partly || len(margin.notes) > 0 { // those left are on pages that poppler doesn't count
		info.Warnings = append(info.Warnings, "comments on pages may be missing: not all objects of the PDF could be read")
	}
	files.Finish(&info)
	return info, nil
}

// scan looks for what poppler does not print.
func scan(ctx context.Context, src extract.Source) (object.Found, error) {
	in, err := os.Open(src.Path)
	if err != nil {
		return object.Found{}, fmt.Errorf("look for comments in a PDF: %w", err)
	}
	defer func() { _ = in.Close() }() // it is only read
	return object.Scan(ctx, in, src.Size)
}

// comments adds the comments on a page after the blocks of the page.
type comments struct {
	notes []object.Note
	put   extract.Emit
	page  strings.Builder // the letters of the page with the next comment
}

// maxPageText is how many bytes of a page are compared to comments.
const maxPageText = 256 << 10

func (c *comments) block(b extract.Block) error {
	if err := c.until(b.Page); err != nil {
		return err
	}
	if len(c.notes) > 0 && c.notes[0].Page == b.Page && c.page.Len() < maxPageText {
		c.page.WriteString(unspaced(b.Text))
	}
	return c.put(b)
}

// until emits the comments on the pages before next. Some programs repeat the marked text as its comment.
func (c *comments) until(next int) error {
	for len(c.notes) > 0 && c.notes[0].Page < next {
		n := c.notes[0]
		repeated := strings.Contains(c.page.String(), unspaced(n.Text))
		if c.notes = c.notes[1:]; len(c.notes) == 0 || c.notes[0].Page != n.Page {
			c.page.Reset()
		}
		if repeated {
			continue
		}
		text := "Comment: " + n.Text
		if n.Author != "" {
			text = "Comment (" + n.Author + "): " + n.Text
		}
		if err := c.put(extract.Block{Kind: extract.Paragraph, Page: n.Page, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

// unspaced returns a text without blanks and line breaks.
func unspaced(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// detach reads the files within a PDF, one by one.
func detach(ctx context.Context, src extract.Source, limits extract.Limits, files *nested.Reader) error {
	path, err := filepath.Abs(src.Path)
	if err != nil {
		return fmt.Errorf("find the PDF: %w", err)
	}
	program := newPoppler(src, path, limits)
	var list []byte
	result, err := program.run(ctx, "pdfdetach", func(r io.Reader) (err error) {
		list, err = io.ReadAll(io.LimitReader(r, maxInfo))
		return err
	}, "-list", "-enc", "UTF-8", path)
	if err != nil {
		return err
	}
	if !result.OK() {
		files.Missed("the files in the PDF", "pdfdetach could not list them")
		return nil
	}
	for i, name := range names(string(list)) {
		err := files.AddFrom(name, 1, func() (string, error) {
			return program.detach(ctx, i+1, files)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// names parses the list of pdfdetach: after a line with the number of files, "1: report.xlsx" and so on. A name with
// a line break may look like another entry, so that no more are taken than there are files.
func names(list string) []string {
	var all []string
	head, list, _ := strings.Cut(list, "\n")
	count, _, _ := strings.Cut(head, " ")
	files, _ := strconv.Atoi(count) // 0 without a list
	for line := range strings.Lines(list) {
		if len(all) == files {
			break
		}
		number, name, found := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); found && err == nil && n == len(all)+1 {
			all = append(all, strings.ToValidUTF8(name, ""))
		}
	}
	return all
}

// detach saves a file and returns its path.
func (p poppler) detach(ctx context.Context, number int, files *nested.Reader) (path string, err error) {
	result, err := p.run(ctx, "pdfdetach", func(r io.Reader) (err error) {
		path, err = files.Save(r)
		return err
	}, "-save", strconv.Itoa(number), "-o", "/dev/stdout", p.path)
	if err == nil && !result.OK() {
		err = taskerr.Errorf(taskerr.CorruptionDetected, "the file in the PDF is damaged: pdfdetach can't save it (%s)", result.End)
	}
	return path, err
}
