// Package soffice reads the formats that LibreOffice knows and the other extractors don't: Office before 2007, and
// documents of other office programs. LibreOffice converts a document to a modern format in a limited child, and the
// extractor of that format reads the result.
package soffice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// version increases when the same file would produce other blocks.
const version = 2

// Reader reads what a document was converted to. *extract.Router implements it.
type Reader interface {
	extract.Runner
	Version(f extract.Format) string
}

// target is what a document is converted to.
type target struct {
	extension string
	format    extract.Format
	module    string // of LibreOffice
}

func (t target) String() string { return t.extension }

var (
	text   = target{"docx", extract.DOCX, "writer"}
	sheet  = target{"xlsx", extract.XLSX, "calc"}
	slides = target{"pptx", extract.PPTX, "impress"}
	vector = target{"odg", extract.ODF, "draw"}
)

// formats are the formats with the extension that LibreOffice expects, and their targets. Only the documents of other
// programs have several: the first that LibreOffice can write is taken.
var formats = map[extract.Format]struct {
	extension string
	targets   []target
}{
	extract.DOC:    {"doc", []target{text}},
	extract.XLS:    {"xls", []target{sheet}},
	extract.XLSB:   {"xlsb", []target{sheet}},
	extract.PPT:    {"ppt", []target{slides}},
	extract.Office: {"", []target{text, vector, sheet, slides}},
}

// Extractors returns an extractor for each format. all reads the converted documents.
func Extractors(all Reader) map[extract.Format]extract.Extractor {
	extractors := map[extract.Format]extract.Extractor{}
	for format := range formats {
		extractors[format] = &extractor{format, all}
	}
	return extractors
}

type extractor struct {
	format extract.Format
	all    Reader
}

// Name covers the extractors of the targets.
func (e *extractor) Name() string {
	var name strings.Builder
	name.WriteString("native/libreoffice")
	for _, t := range formats[e.format].targets {
		name.WriteString("+" + strings.TrimPrefix(e.all.Version(t.format), "native/"))
	}
	return name.String()
}

func (*extractor) Version() int { return version }

// Extract implements extract.Extractor.
func (e *extractor) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	limits = limits.WithDefaults()
	office, err := find()
	if err != nil {
		return extract.Info{}, err
	}
	dir, err := os.MkdirTemp(src.TempDir, "soffice-")
	if err != nil {
		return extract.Info{}, fmt.Errorf("make a folder for LibreOffice: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c := conversion{office: office, src: src, limits: limits, dir: dir, extension: formats[e.format].extension}
	targets := formats[e.format].targets
	if e.format == extract.Office {
		c.extension, targets = kind(src, targets)
	}
	for _, t := range targets {
		made, err := c.convert(ctx, t)
		if err != nil {
			return extract.Info{}, err
		}
		if made == "" {
			continue
		}
		converted := src
		converted.Path, converted.Format, converted.Size, converted.SHA256 = made, t.format, 0, ""
		if about, err := os.Stat(made); err == nil {
			converted.Size = about.Size()
		}
		info, err := e.all.Extract(ctx, converted, limits, emit)
		info.Format = e.format
		if err == nil {
			info.Extractor = "native/libreoffice+" + info.Extractor
		}
		return info, err
	}
	return extract.Info{}, unreadable(src)
}

// Print converts a presentation to PDF, in a limited child, and returns the PDF's path, in a folder that is made in
// tempDir. The caller removes that: the path's folder. Errors are *taskerr.Error.
func Print(ctx context.Context, path string, size int64, limits extract.Limits, tempDir string) (pdf string, err error) {
	office, err := find()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(tempDir, "soffice-")
	if err != nil {
		return "", fmt.Errorf("make a folder for LibreOffice: %w", err)
	}
	c := conversion{
		office: office, src: extract.Source{Path: path, Size: size, Format: extract.PPTX}, limits: limits.WithDefaults(), dir: dir,
		extension: "pptx",
	}
	if pdf, err = c.convert(ctx, target{"pdf", extract.PDF, "impress"}); err == nil && pdf == "" {
		err = taskerr.Errorf(taskerr.InternalBug, "LibreOffice can't print the presentation")
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return pdf, nil
}

// Prints reports whether presentations can be printed: whether LibreOffice with Impress is installed.
func Prints() error {
	office, err := find()
	if err != nil {
		return err
	}
	return office.lacks(slides)
}

// conversion is the conversion of one document.
type conversion struct {
	office    installation
	src       extract.Source
	limits    extract.Limits
	dir       string // for the document's link, the profile and the result
	extension string
}

// Memory of LibreOffice in bytes. An empty document takes 90 MB of its own.
const leastMemory, ofFile = 192 << 20, 4

// mapped is its address space for libraries and stacks of threads, in bytes.
const mapped = 2 << 30

// restart is the exit status with which LibreOffice wants to be started again (EXITHELPER_NORMAL_RESTART).
const restart = 81

// convert returns the path of the result, or "" if LibreOffice can't convert the document to the target.
func (c conversion) convert(ctx context.Context, t target) (string, error) {
	if err := c.office.lacks(t); err != nil {
		return "", err
	}
	path, err := filepath.Abs(c.src.Path)
	if err != nil {
		return "", fmt.Errorf("find the document: %w", err)
	}
	link := filepath.Join(c.dir, "document."+c.extension)
	out := filepath.Join(c.dir, t.extension)
	if err := errors.Join(ignoreExists(os.Symlink(path, link)), os.Mkdir(out, 0o700), c.profile()); err != nil {
		return "", fmt.Errorf("prepare the conversion: %w", err)
	}
	memory := c.limits.ChildBytes
	if c.limits.Pool != nil {
		memory = min(memory, leastMemory+c.src.Size*ofFile)
	}
	command := func() child.Command {
		return child.Command{
			Program: c.office.program, Args: []string{
				"--headless", "--norestore", "--nologo", "--nodefault", "--nofirststartwizard", "--nolockcheck",
				"-env:UserInstallation=" + fileURL(filepath.Join(c.dir, "profile")), "-env:OSL_SOCKET_PATH=.",
				"--convert-to", t.extension, "--outdir", out, link,
			},
			Env:   []string{"HOME=" + c.dir, "TEMP=" + c.dir},
			Files: append([]string{path}, c.office.files...), Folders: []string{c.dir}, Scratch: c.office.scratch(),
			Dir: c.dir, Listens: true,
			Limits: child.Limits{
				Wait: c.limits.Time, CPU: c.limits.Time, Memory: memory, Mapped: mapped, File: c.limits.Bytes,
			},
		}
	}
	defer c.office.clear()
	result, err := c.limits.Pool.Run(ctx, command)
	if err == nil && result.ExitCode == restart {
		result, err = c.limits.Pool.Run(ctx, command)
	}
	if err != nil {
		return "", fmt.Errorf("convert the document: %w", err)
	}
	switch result.End {
	case child.WaitLimit, child.CPULimit:
		return "", taskerr.Errorf(taskerr.CorruptionDetected,
			"the document takes LibreOffice too long to convert; it may be damaged: save it in a modern format, such as %s",
			t)
	case child.MemoryLimit, child.FileLimit, child.OutputLimit:
		return "", taskerr.Errorf(taskerr.QuotaExceeded,
			"the document takes LibreOffice too much memory to convert (%s): save it in a modern format, such as %s",
			result.End, t)
	}
	if result.OK() && c.made(t) {
		return filepath.Join(out, "document."+t.extension), nil
	}
	return "", nil
}

// made reports whether LibreOffice left a result, and not a link to one.
func (c conversion) made(t target) bool {
	file, err := child.OpenMade(c.dir, filepath.Join(t.extension, "document."+t.extension))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // read-only
	about, err := file.Stat()
	return err == nil && about.Size() > 0
}

func ignoreExists(err error) error {
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// profile makes a profile whose extensions count as up to date. Otherwise LibreOffice ends after its first start and
// wants to be started again. It follows no link out of the folder: before a second target a document has had the first.
func (c conversion) profile() error {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // its files are written by then
	const extensions = "profile/user/extensions/"
	for _, kind := range []string{"bundled/", "shared/"} {
		if err := root.MkdirAll(extensions+kind, 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(extensions+kind+"lastsynchronized", []byte("1"), 0o600); err != nil {
			return err
		}
	}
	return root.WriteFile(extensions+"buildid", []byte(c.office.build), 0o600)
}
