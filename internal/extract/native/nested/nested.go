// Package nested reads the files within a document: the attachments of a message, the members of an archive, what
// is embedded in a PDF or an Office file. Each is read with the extractor of its own format. They share the limits of
// the document that they are in, at all depths, so that an archive of archives costs no more than one document.
package nested

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxList = 2000 // bytes of the list of unread files
	maxName = 200  // bytes of a name in it
	maxWarn = 50   // warnings about files that were read
)

// MaxMessages is how many messages of mailboxes are read. They don't count as files within the document; what is attached
// to them does.
const MaxMessages = 10_000

// Reader reads the files within one document and emits the blocks of the document. It is used by one goroutine.
// The caller closes it.
type Reader struct {
	// Mention precedes the name of a file that has no text, in a paragraph of its own. Empty: it is not mentioned.
	Mention string
	// Message reads an e-mail in another way than as a file. Nil: no other.
	Message func(path, name string, level int) error

	ctx     context.Context //nolint:containedctx // it lives as long as one call of Extract
	all     All
	limits  extract.Limits // Characters: what is left
	within  *extract.Within
	emit    extract.Emit
	tempDir string
	dir     string // in tempDir; empty: none was needed yet
	path    string // of this document within the outermost one, with a slash at its end
	stopped bool   // emit failed

	saved  int // files in dir
	files  int // within the document
	read   int // of those, the ones that have text
	first  string
	missed int // how many could not be read, or not in full, at any depth; of the outermost document
	list   strings.Builder
	warn   []string // about files that were read, at any depth; of the outermost document
	unsaid int      // more of them

	incomplete bool // Info.Incomplete of a file within the document
}

// New returns a Reader for the files within src. limits are those of src.
func New(
	ctx context.Context, all All, src extract.Source, limits extract.Limits, emit extract.Emit,
) *Reader {
	limits = limits.WithDefaults()
	r := &Reader{ctx: ctx, all: all, tempDir: src.TempDir, limits: limits, within: limits.Within, emit: emit}
	if r.within == nil {
		r.within = &extract.Within{
			Files: limits.Files, Pages: limits.Pages, Messages: MaxMessages, Bytes: limits.Bytes, Unpacked: limits.ZipBytes,
			Missed: r.add, Warned: r.addWarning,
		}
	} else {
		r.path = src.Name + "/"
	}
	return r
}

// folder returns the folder of the saved files, which is made when it is needed.
func (r *Reader) folder() (string, error) {
	if r.dir == "" {
		dir, err := os.MkdirTemp(r.tempDir, "nested-")
		if err != nil {
			return "", fmt.Errorf("make a folder for the files within a document: %w", err)
		}
		r.dir = dir
	}
	return r.dir, nil
}

// Close removes the saved files.
func (r *Reader) Close() error {
	if r.dir == "" {
		return nil
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return fmt.Errorf("remove the files within a document: %w", err)
	}
	return nil
}

// Depth is how deep files within this document are read.
func (r *Reader) Depth() int { return r.limits.Depth }

// Stopped reports that the document's emit function failed.
func (r *Reader) Stopped() bool { return r.stopped }

// Put emits a block of the document and clamps the level of a heading.
func (r *Reader) Put(b extract.Block) error {
	if b.Kind == extract.Heading {
		b.Level = min(max(b.Level, 1), 6)
	}
	return r.own(b)
}

// own emits a block as it is.
func (r *Reader) own(b extract.Block) error {
	r.limits.Characters = max(r.limits.Characters-Characters(b)-utf8.RuneCountInString(b.Marker), 1)
	err := r.emit(b)
	r.stopped = r.stopped || err != nil
	return err
}

// Characters counts a block's text without its marker.
func Characters(b extract.Block) int {
	sum := utf8.RuneCountInString(b.Text)
	if b.Table == nil {
		return sum
	}
	for _, row := range b.Table.Rows {
		for _, cell := range row {
			sum += utf8.RuneCountInString(cell.Text)
		}
	}
	return sum
}

// Below returns the level of a block under a heading of the given level.
func Below(b extract.Block, level int) int {
	if b.Kind == extract.Heading {
		return b.Level + level
	}
	return b.Level
}

// Save writes content to a file of its own. All files within a document together may be as large as one document.
// If content ends too early, what there is of it is saved, and the rest is missed.
func (r *Reader) Save(content io.Reader) (string, error) {
	dir, err := r.folder()
	if err != nil {
		return "", err
	}
	r.saved++
	path := filepath.Join(dir, strconv.Itoa(r.saved))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("save a file within a document: %w", err)
	}
	n, err := io.Copy(file, io.LimitReader(&whileRunning{r.ctx, content}, r.within.Bytes+1))
	if r.ctx.Err() != nil {
		err = context.Cause(r.ctx)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		r.Missed("the rest of the message", "it was cut off on its way")
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(path) // removed with its folder at the latest
		return "", fmt.Errorf("save a file within a document: %w", err)
	}
	if n > r.within.Bytes {
		_ = os.Remove(path) // as above
		return "", taskerr.Errorf(taskerr.QuotaExceeded,
			"the files within it are larger than what is read of a document: split it into smaller files")
	}
	r.within.Bytes = max(r.within.Bytes-n, 1)
	return path, nil
}

// Room returns how many bytes of files can still be saved.
func (r *Reader) Room() int64 { return r.within.Bytes }

// Remove removes a saved file, which then no longer counts toward the limit.
func (r *Reader) Remove(path string) error {
	about, err := os.Stat(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return fmt.Errorf("remove a file within a document: %w", err)
	}
	r.within.Bytes += about.Size()
	return nil
}

// whileRunning reads until ctx ends.
type whileRunning struct {
	ctx context.Context //nolint:containedctx // of one call
	io.Reader
}

func (w *whileRunning) Read(p []byte) (int, error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.Reader.Read(p)
}

// Missed records a file, or a part of the document, that was not read, and the reason.
func (r *Reader) Missed(name, reason string) {
	name = cmp.Or(extract.CleanName(name), "a message")
	r.first = cmp.Or(r.first, name+" ("+reason+")")
	r.within.Missed(r.path+name, reason)
}

// add records what was not read at any depth.
func (r *Reader) add(name, reason string) {
	r.missed++
	if r.list.Len() > maxList {
		return
	}
	if r.missed > 1 {
		r.list.WriteString("; ")
	}
	r.list.WriteString(Shorten(name, maxName) + " (" + reason + ")")
}

// warned passes on the warnings about a file that was read.
func (r *Reader) warned(name string, warnings []string) {
	name = cmp.Or(extract.CleanName(name), "a message")
	for _, warning := range warnings {
		r.first = cmp.Or(r.first, name+" ("+warning+")")
		r.within.Warned(r.path+name, warning)
	}
}

// addWarning records a warning about a file at any depth, once: a file may be read twice.
func (r *Reader) addWarning(name, warning string) {
	warning = Shorten(name, maxName) + ": " + Shorten(warning, maxList)
	switch {
	case slices.Contains(r.warn, warning):
	case len(r.warn) >= maxWarn:
		r.unsaid++
	default:
		r.warn = append(r.warn, warning)
	}
}

// FirstMissed is the first file that was not read, or has a warning, with the reason, or "".
func (r *Reader) FirstMissed() string { return r.first }

// Succeeded is how many files have text.
func (r *Reader) Succeeded() int { return r.read }

// Shorten cuts a text that is longer than limit bytes and marks the cut by "…".
func Shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}

// Finish adds to info what was read, the warnings about it, and one that names what was not:
//
//	attachments   how many files are within the document
func (r *Reader) Finish(info *extract.Info) {
	info.Incomplete = info.Incomplete || r.incomplete
	if info.Properties == nil {
		info.Properties = map[string]string{}
	}
	if r.files > 0 {
		info.Properties["attachments"] = strconv.Itoa(r.files)
	}
	if r.missed > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d attachments or parts could not be read: %s", r.missed,
			Shorten(r.list.String(), maxList)))
	}
	info.Warnings = append(info.Warnings, r.warn...)
	if r.unsaid > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d more warnings about files within the document", r.unsaid))
	}
}
