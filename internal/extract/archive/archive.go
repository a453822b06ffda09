// Package archive opens the zip containers of Office documents without trusting their declarations: it measures
// the central directory before reading it, and meters every entry while unpacking.
package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Limits limit the cost of one container. All fields must be positive.
type Limits struct {
	Entries int   // in the central directory
	Ratio   int   // unpacked to packed, for any entry over 1 MiB unpacked
	Bytes   int64 // unpacked, over all entries that are read
}

// ratioFree is how much an entry may unpack to before its ratio is checked: tiny files of blanks compress by
// more than any useful limit.
const ratioFree = 1 << 20

// Archive is an open container. It is not safe for concurrent use.
type Archive struct {
	file   *os.File
	parts  map[string]*zip.File // by lower-case name without a leading slash
	files  []*zip.File          // the same in the directory's order
	all    []*zip.File          // also those with the name of another
	limits Limits
	read   int64 // unpacked so far, over all entries
}

// Open reads the container's directory. Its errors are *taskerr.Error: corruption_detected if the file is not a
// complete zip, quota_exceeded if it has too many entries.
func Open(path string, limits Limits) (*Archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open container: %w", err)
	}
	a, err := open(file, limits)
	if err != nil {
		_ = file.Close() // read-only
		return nil, err
	}
	return a, nil
}

func open(file *os.File, limits Limits) (*Archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("size of container: %w", err)
	}
	if err := checkCount(file, info.Size(), limits.Entries); err != nil {
		return nil, err
	}
	metered := newDirectory(file, limits.Entries)
	reader, err := zip.NewReader(metered, info.Size())
	metered.left = -1
	switch {
	case errors.Is(err, errTooManyEntries):
		return nil, tooManyEntries(limits.Entries)
	case err != nil:
		return nil, damaged(err)
	}
	if len(reader.File) > limits.Entries {
		return nil, tooManyEntries(limits.Entries)
	}
	if err := checkSums(reader.File, uint64(info.Size()), limits); err != nil {
		return nil, err
	}
	a := &Archive{file: file, all: reader.File, parts: make(map[string]*zip.File, len(reader.File)), limits: limits}
	for _, f := range reader.File {
		// The first of two entries with the same name wins, as in Office.
		if key := partKey(f.Name); a.parts[key] == nil {
			a.parts[key] = f
			a.files = append(a.files, f)
		}
	}
	return a, nil
}

// partKey normalizes a name: part names are case-insensitive (ECMA-376 part 2, 6.2.2).
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

// Has reports whether there is an entry with the name.
func (a *Archive) Has(name string) bool { return a.parts[partKey(name)] != nil }

// Files returns the names of the entries that are files, in the directory's order, for Part.
func (a *Archive) Files() []string {
	names := make([]string, 0, len(a.files))
	for _, f := range a.files {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names
}

// Entry is a file in an archive.
type Entry struct {
	Name string
	Size uint64                        // as it declares, in bytes
	Open func() (io.ReadCloser, error) // errors are those of Part
}

// Entries returns all files in the directory's order: also those whose names differ in the case of letters only, or not
// at all.
func (a *Archive) Entries() []Entry {
	entries := make([]Entry, 0, len(a.all))
	for _, f := range a.all {
		if !strings.HasSuffix(f.Name, "/") {
			entries = append(entries, Entry{f.Name, f.UncompressedSize64, func() (io.ReadCloser, error) { return a.open(f) }})
		}
	}
	return entries
}

// Part opens an entry. The error for a missing one is fs.ErrNotExist; for one that can't be unpacked, or is a
// bomb, Part or Read returns a *taskerr.Error of corruption_detected.
func (a *Archive) Part(name string) (io.ReadCloser, error) {
	f := a.parts[partKey(name)]
	if f == nil {
		return nil, fmt.Errorf("part %q: %w", name, fs.ErrNotExist)
	}
	return a.open(f)
}

func (a *Archive) open(f *zip.File) (io.ReadCloser, error) {
	if f.Flags&1 != 0 {
		return nil, taskerr.PasswordProtected("the file")
	}
	if f.UncompressedSize64 > uint64(a.limits.Bytes) {
		return nil, a.tooLarge()
	}
	if exceedsRatio(f.UncompressedSize64, f.CompressedSize64, a.limits.Ratio) {
		return nil, a.bomb()
	}
	rc, err := f.Open()
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return nil, taskerr.Errorf(taskerr.UnsupportedFormat,
			"it is compressed by a method of zip that can't be read (number %d): unpack it, and zip it again with Deflate, the "+
				"usual one", f.Method)
	case err != nil:
		return nil, damaged(err)
	}
	return &meter{ReadCloser: rc, archive: a, packed: f.CompressedSize64}, nil
}

func exceedsRatio(unpacked, packed uint64, ratio int) bool {
	return unpacked > ratioFree && unpacked/uint64(ratio) > packed
}

// meter counts what an entry really unpacks to; the sizes in the directory may be forged.
type meter struct {
	io.ReadCloser
	archive  *Archive
	packed   uint64
	unpacked uint64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.unpacked += uint64(n)
	m.archive.read += int64(n)
	switch {
	case m.archive.read > m.archive.limits.Bytes:
		return 0, m.archive.tooLarge()
	case exceedsRatio(m.unpacked, m.packed, m.archive.limits.Ratio):
		return 0, m.archive.bomb()
	case err != nil && !errors.Is(err, io.EOF):
		return n, damaged(err)
	}
	return n, err
}

// Close tells of damage that was not read.
func (m *meter) Close() error {
	if err := m.ReadCloser.Close(); err != nil {
		return damaged(err)
	}
	return nil
}

func (a *Archive) tooLarge() error { return tooLarge(a.limits) }

// smaller is what to do about a file that looks like a zip bomb: it is whole, and there is nothing to repair.
const smaller = "the worker protects itself from such files: save it anew or split it, so that it unpacks to less, and " +
	"upload it under a new name"

func tooLarge(limits Limits) error {
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"the file unpacks to more than %d MB, which looks like a zip bomb: it is not read", (limits.Bytes+1<<20-1)>>20).
		WithHint(smaller)
}

func (a *Archive) bomb() error {
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"a part of the file unpacks to more than %d times its size, which looks like a zip bomb: it is not read",
		a.limits.Ratio).WithHint(smaller)
}

func tooManyEntries(limit int) error {
	return taskerr.Errorf(taskerr.QuotaExceeded, "the file holds more than %d parts: it is not read", limit)
}

func damaged(err error) error {
	return taskerr.Errorf(taskerr.CorruptionDetected,
		"the file is damaged or was cut off on its way (%w): upload it again", err)
}
