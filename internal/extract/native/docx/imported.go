package docx

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/ooxml"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const maxImports = 100 // imported documents that are read

// imports reads the documents that Word imports when it opens this one (w:altChunk, 17.17.2.1).
type imports struct {
	runner extract.Runner // nil: they are not read
	temp   string
	limits extract.Limits
	unpack int64 // bytes that those that are containers may still unpack
	count  int
	missed map[string]int // by reason
	inner  []string       // warnings about the imported documents
}

// imported reads a w:altChunk.
func (r *reader) imported(start xml.StartElement, emit extract.Emit) error {
	if err := errors.Join(r.d.Skip(), r.rest(emit)); err != nil {
		return err
	}
	part := r.once(ooxml.RelationID(start, "id"))
	if part == "" {
		return nil
	}
	i := &r.imports
	if i.count++; i.runner == nil || i.count > maxImports {
		i.miss("documents within such documents are not read, and at most 100 in one")
		return nil
	}
	err := r.runImported(part, emit)
	if reason, ok := errors.AsType[unreadable](err); ok {
		i.miss(string(reason))
		return nil
	}
	if e, ok := errors.AsType[*taskerr.Error](err); ok &&
		(e.Class == taskerr.CorruptionDetected || e.Class == taskerr.UnsupportedFormat) {
		i.miss(e.Message)
		return nil
	}
	return err
}

// unreadable is why an imported document was not read.
type unreadable string

func (u unreadable) Error() string { return string(u) }

func (r *reader) runImported(part string, emit extract.Emit) error {
	path, size, err := r.saved(part)
	if path != "" {
		defer func() { _ = os.Remove(path) }() // a temporary file
	}
	if err != nil {
		return err
	}
	i := &r.imports
	src, err := extract.Open(path, part)
	if err != nil {
		return err
	}
	src.TempDir = i.temp
	limits := i.limits
	limits.ZipBytes = min(i.unpack, int64(limits.ZipRatio)*max(size, 1<<20))
	if src.Format == extract.DOCX {
		if limits.ZipBytes <= 0 {
			return unreadable("those before it were too large when unpacked")
		}
		i.unpack -= limits.ZipBytes
	}
	info, err := i.runner.Extract(r.ctx, src, limits, func(b extract.Block) error {
		if err := r.holdTables(b); err != nil {
			return err
		}
		return emit(b)
	})
	i.inner = append(i.inner, info.Warnings...)
	return err
}

// saved copies a part to a temporary file. Of a web archive it copies the page.
func (r *reader) saved(part string) (path string, size int64, err error) {
	rc, err := r.pkg.Part(part)
	if ooxml.Optional(err) != nil {
		return "", 0, err
	}
	if err != nil {
		return "", 0, unreadable("the file lacks it")
	}
	defer func() { _ = rc.Close() }() // read-only
	file, err := os.CreateTemp(r.imports.temp, "imported-")
	if err != nil {
		return "", 0, fmt.Errorf("make a temporary file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffered := bufio.NewReader(rc)
	head, _ := buffered.Peek(4 << 10) // a short part is not an error
	content := io.Reader(buffered)
	if page, ok := archivedPage(head, buffered); ok {
		content = page
	}
	size, err = io.Copy(file, content)
	if err != nil {
		return file.Name(), size, unpackError(err)
	}
	return file.Name(), size, nil
}

// unpackError explains an error of a part's content or of the disk.
func unpackError(err error) error {
	if _, ok := errors.AsType[*taskerr.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	return unreadable("it is damaged")
}

func (i *imports) miss(reason string) {
	if i.missed == nil {
		i.missed = map[string]int{}
	}
	if len(i.missed) < maxImports {
		i.missed[reason]++
	}
}

// warnings says what was not read of the imported documents.
func (i *imports) warnings() []string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(i.missed)) {
		all = append(all, fmt.Sprintf("%d of the documents that the Word document imports could not be read: %s",
			i.missed[reason], reason))
	}
	return append(all, i.inner...)
}
