package eml

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// save writes a part to its own file. The parts together may be as large as one document.
func (w *walker) save(r io.Reader) (string, error) {
	w.files++
	path := filepath.Join(w.dir, strconv.Itoa(w.files))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("save a part of a message: %w", err)
	}
	n, err := io.Copy(file, io.LimitReader(r, w.left.Bytes+1))
	if w.ctx.Err() != nil {
		err = context.Cause(w.ctx)
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		w.missed("the rest of the message", "it was cut off on its way")
		err = nil
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("save a part of a message: %w", err)
	}
	if n > w.left.Bytes {
		return "", taskerr.Errorf(taskerr.QuotaExceeded,
			"the parts of the message are larger than what is read of a document: split it into smaller files")
	}
	w.left.Bytes = max(w.left.Bytes-n, 1)
	return path, nil
}

// attachment reads an attached file under its name. An unreadable attachment doesn't fail the message.
func (w *walker) attachment(path, name string, depth int) error {
	defer func() { _ = os.Remove(path) }() // removed with its folder at the latest
	w.attached++
	if name == "" {
		name = fmt.Sprintf("attachment %d", w.attached)
	}
	if w.attached > maxAttached {
		w.missed(name, fmt.Sprintf("at most %d attachments are read", maxAttached))
		return nil
	}
	named := false
	isMail, err := w.file(path, name, depth, func(b extract.Block) error {
		if !named {
			named = true
			if err := w.put(extract.Block{Kind: extract.Heading, Level: depth + 2, Text: name}); err != nil {
				return err
			}
		}
		b.Level = below(b, depth+2)
		return w.put(b)
	})
	switch e, ok := errors.AsType[*taskerr.Error](err); {
	case err != nil && (w.stopped || w.ctx.Err() != nil || !ok):
		return err
	case ok && e.Class != taskerr.UnsupportedFormat && e.Class != taskerr.CorruptionDetected &&
		e.Class != taskerr.QuotaExceeded:
		return err
	case ok:
		w.missed(name, e.Message)
	}
	mention := extract.Block{Kind: extract.Paragraph, Text: "Attachment: " + name}
	if named || isMail || characters(mention) > w.left.Characters {
		return nil
	}
	return w.put(mention)
}

// file reads an attached file of any format. A message is titled by its subject instead of its name.
func (w *walker) file(path, name string, depth int, emit extract.Emit) (isMail bool, err error) {
	src, err := extract.Open(path, name)
	if err != nil {
		return false, err
	}
	if src.Format == extract.EML {
		return true, w.attachedMessage(path, name, depth)
	}
	if w.parts.Version(src.Format) == "" {
		return false, taskerr.Errorf(taskerr.UnsupportedFormat, "this kind of file can't be read")
	}
	info, err := w.read(src, utf8.RuneCountInString(name), emit)
	if n := info.Properties["unread_pages"]; n != "" && err == nil {
		w.missed(name, fmt.Sprintf("%s of %d pages could not be read by OCR: %s", n, max(info.Pages, 1),
			info.Properties["unread_reason"]))
	}
	return false, err
}

func (w *walker) attachedMessage(path, name string, depth int) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open an attached message: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	return w.inner(name, file, depth)
}

// read extracts a part with the extractor of its format, within what is left of the limits. At least one is
// left of each, because a limit of zero means the default. heading is the number of characters of the heading
// to be emitted before it.
func (w *walker) read(src extract.Source, heading int, emit extract.Emit) (extract.Info, error) {
	src.TempDir = w.dir
	if src.Size == 0 {
		if about, err := os.Stat(src.Path); err == nil {
			src.Size = about.Size()
		}
	}
	limits := w.left
	limits.Bytes = max(limits.Bytes, src.Size) // counted by save already
	limits.Characters = max(limits.Characters-heading, 1)
	info, err := w.parts.Extract(w.ctx, src, limits, func(b extract.Block) error {
		b.Page, b.Box = 0, nil
		return emit(b)
	})
	w.left.Pages = max(w.left.Pages-info.Pages, 1)
	w.left.ZipBytes = max(w.left.ZipBytes-unpacked(src, w.left.ZipBytes), 1)
	return info, err
}

// unpacked returns the unpacked size that a zip-based file declares, at most limit. The reader of such a file
// refuses one that unpacks to more.
func unpacked(src extract.Source, limit int64) int64 {
	switch src.Format {
	case extract.DOCX, extract.PPTX, extract.XLSX, extract.ODF, extract.EPUB:
	default:
		return 0
	}
	a, err := zip.OpenReader(src.Path)
	if err != nil {
		return 0
	}
	defer func() { _ = a.Close() }() // read-only
	sum := int64(0)
	for _, f := range a.File {
		if f.UncompressedSize64 > uint64(limit-sum) {
			return limit
		}
		sum += int64(f.UncompressedSize64)
	}
	return sum
}

// missed records an unread attachment and the reason.
func (w *walker) missed(name, reason string) {
	if name == "" {
		name = "a message"
	}
	w.unread = append(w.unread, shorten(name, 200)+" ("+reason+")")
}
