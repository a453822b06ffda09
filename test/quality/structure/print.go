package structure

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// File is a document as a program wrote it.
type File struct {
	*Document
	Producer string // the program, for example "chromium"
	Format   string // the file name's extension
	Path     string
}

// Name is unique among the files of one set.
func (f File) Name() string { return f.Document.Name() + "/" + f.Producer + "." + f.Format }

// Reference returns what a reader should find in the file.
func (f File) Reference() []extract.Block { return f.plain(f.Document.Reference()) }

// plain leaves out the joiners of Persian words where a PDF doesn't tell them: WeasyPrint writes none, and for Typst a
// glyph that follows one somewhere follows one everywhere. The parts of these documents that have joiners are text.
func (f File) plain(blocks []extract.Block) []extract.Block {
	if f.Format == "pdf" && (f.Producer == "weasyprint" || f.Producer == "typst") {
		for i := range blocks {
			blocks[i].Text = strings.ReplaceAll(blocks[i].Text, nonJoiner, "")
		}
	}
	return blocks
}

const nonJoiner = "\u200C" // between the parts of a Persian word

// Tools are the programs that write documents. Python needs the packages typst and weasyprint.
type Tools struct{ Soffice, Chromium, Python string }

// FindTools finds the programs. venv is the folder of a Python environment.
func FindTools(venv string) (t Tools, err error) {
	venv, err = filepath.Abs(venv) // programs run in another folder
	find := func(name string, to *string) {
		path, failed := exec.LookPath(name)
		err = errors.Join(err, failed)
		*to = path
	}
	find("soffice", &t.Soffice)
	find("chromium", &t.Chromium)
	find(filepath.Join(venv, "bin", "python3"), &t.Python)
	if err != nil {
		return t, fmt.Errorf("find the programs that print documents (dev/install-structure-deps.sh installs them): %w", err)
	}
	return t, nil
}

//go:embed print.py
var printer string

// Write writes all documents into a folder: as DOCX, HTML, Markdown, EPUB, PPTX, XLSX, ODT, RTF, ODP
// and ODS, and as PDF by each program.
func (t Tools) Write(ctx context.Context, dir string, docs []*Document) ([]File, error) {
	var files []File
	for _, d := range docs {
		written, err := Sources(dir, d)
		if err != nil {
			return nil, err
		}
		files = append(files, written...)
	}
	for _, step := range []func(context.Context, string, []*Document) ([]File, error){t.office, t.packages, t.browser, t.python} {
		written, err := step(ctx, dir, docs)
		if err != nil {
			return nil, err
		}
		files = append(files, written...)
	}
	return files, nil
}

// written are the files that Write makes of a document; of is what is in them, nil if it is the document itself.
var written = []struct {
	producer, format string
	of               func(*Document) *Document
}{
	{"source", "docx", nil},
	{"source", "html", nil},
	{"source", "md", nil},
	{"source", "epub", nil},
	{"source", "pptx", Slides},
	{"source", "xlsx", func(d *Document) *Document { return Sheets(d, 2) }},
	{"libreoffice", "pdf", nil},
	{"libreoffice", "odt", nil},
	{"libreoffice", "rtf", nil},
	{"libreoffice", "odp", Slides},
	{"libreoffice", "ods", func(d *Document) *Document { return Sheets(d, 1) }}, // the names of sheets are top headings there
	{"chromium", "pdf", nil},
	{"typst", "pdf", nil},
	{"weasyprint", "pdf", nil},
}

// Written returns the files that Write wrote into a folder before.
func Written(dir string, docs []*Document) ([]File, error) {
	var files []File
	for _, d := range docs {
		for _, w := range written {
			path := filepath.Join(dir, strings.TrimPrefix(w.producer, "source"), d.Name()+"."+w.format)
			if _, err := os.Stat(path); err != nil || w.format == "md" && !asMarkdown(d) || w.format == "pdf" && w.producer == "libreoffice" && !drawn(d, "pdf") {
				continue
			}
			content := d
			if w.of != nil {
				content = w.of(d)
			}
			files = append(files, File{content, w.producer, w.format, path})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no documents in %s", dir)
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name(), b.Name()) })
	return files, nil
}

// asMarkdown reports whether Markdown can say all that is in a document. It has neither lists with letters nor cells that
// span others.
func asMarkdown(d *Document) bool {
	return !slices.Contains([]string{"statute", "nested", "merged"}, d.Kind)
}

// Sources writes a document in the formats that need no program: DOCX, HTML, and most as Markdown.
func Sources(dir string, d *Document) ([]File, error) {
	var docx, markdown bytes.Buffer
	if err := DOCX(&docx, d); err != nil {
		return nil, err
	}
	md := extract.NewMarkdownWriter(&markdown)
	for _, b := range d.Reference() {
		if err := md.Write(b); err != nil {
			return nil, fmt.Errorf("write Markdown: %w", err)
		}
	}
	if err := md.Close(); err != nil {
		return nil, fmt.Errorf("write Markdown: %w", err)
	}
	var files []File
	for _, f := range []struct {
		format string
		data   []byte
	}{{"docx", docx.Bytes()}, {"md", markdown.Bytes()}, {"html", []byte(HTML(d))}, {"typ", []byte(Typst(d))}} {
		path := filepath.Join(dir, d.Name()+"."+f.format)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			return nil, fmt.Errorf("write a document: %w", err)
		}
		if f.format != "typ" && (f.format != "md" || asMarkdown(d)) { // Typst is printed only
			files = append(files, File{d, "source", f.format, path})
		}
	}
	return files, nil
}

// office converts the DOCX files by LibreOffice. Its profile is in the folder: it belongs to nobody else.
func (t Tools) office(ctx context.Context, dir string, docs []*Document) ([]File, error) {
	return t.officeFormats(ctx, dir, docs, "pdf", "odt", "rtf")
}

func (t Tools) officeFormats(ctx context.Context, dir string, docs []*Document, formats ...string) ([]File, error) {
	var files []File
	for _, format := range formats {
		var inputs []string
		for _, d := range docs {
			if !drawn(d, format) {
				continue
			}
			inputs = append(inputs, filepath.Join(dir, d.Name()+".docx"))
			files = append(files, File{d, "libreoffice", format, filepath.Join(dir, "libreoffice", d.Name()+"."+format)})
		}
		if err := t.convert(ctx, dir, format, inputs); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// drawn reports whether LibreOffice draws all of a document. Tables side by side are below each other there, and it
// draws turned heads of columns off the page if the table begins at the right.
func drawn(d *Document, format string) bool {
	return d.Kind != "beside" && !(d.Kind == "rotated" && d.RightToLeft() && format == "pdf")
}

// convert converts files by LibreOffice, which would wait for ever without any.
func (t Tools) convert(ctx context.Context, dir, format string, inputs []string) error {
	if len(inputs) == 0 {
		return nil
	}
	args := []string{
		"-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--headless", "--convert-to", format,
		"--outdir", filepath.Join(dir, "libreoffice"),
	}
	return run(ctx, dir, t.Soffice, append(args, inputs...)...)
}

func (t Tools) browser(ctx context.Context, dir string, docs []*Document) ([]File, error) {
	out := filepath.Join(dir, "chromium")
	if err := os.Mkdir(out, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	var files []File
	for _, d := range docs {
		path := filepath.Join(out, d.Name()+".pdf")
		if err := run(ctx, dir, t.Chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
			"--user-data-dir="+filepath.Join(dir, "browser"), "--print-to-pdf="+path,
			"file://"+filepath.Join(dir, d.Name()+".html")); err != nil {
			return nil, err
		}
		files = append(files, File{d, "chromium", "pdf", path})
	}
	return files, nil
}

// python prints with Typst and WeasyPrint, which are Python packages.
func (t Tools) python(ctx context.Context, dir string, docs []*Document) ([]File, error) {
	var files []File
	for _, d := range docs {
		for _, producer := range []string{"typst", "weasyprint"} {
			files = append(files, File{d, producer, "pdf", filepath.Join(dir, producer, d.Name()+".pdf")})
		}
	}
	return files, run(ctx, dir, t.Python, "-c", printer, dir)
}

// run runs a program in a folder; its error has the end of what it printed.
func run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return fmt.Errorf("%s: %w: %s", filepath.Base(program), err, text[max(0, len(text)-500):])
	}
	return nil
}
