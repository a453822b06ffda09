package nested

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// unreadable reports whether an error is about one file, so that the others can still be read.
func (r *Reader) unreadable(err error) (*taskerr.Error, bool) {
	e, ok := errors.AsType[*taskerr.Error](err)
	if !ok || r.stopped || r.ctx.Err() != nil || e.Class == taskerr.InternalBug {
		return nil, false //nolint:nilerr // the caller has it
	}
	coarse := taskerr.Classes[e.Class].Coarse
	return e, coarse == "validation" || coarse == "permanent"
}

// Refused records the file as missed if err is about that file alone. Other errors it returns.
func (r *Reader) Refused(name string, err error) error {
	e, ok := r.unreadable(err)
	if !ok {
		return err
	}
	r.Missed(name, e.Message)
	return nil
}

// Admit counts a file within the document and reports whether it may be read. The document goes on without one
// that may not.
func (r *Reader) Admit(name string) bool {
	r.files++
	switch {
	case r.limits.Depth < 0:
		r.Missed(name, "files are nested too deep in each other")
		return false
	case r.within.Files <= 0:
		r.Missed(name, fmt.Sprintf("at most %d files within a document are read", r.limits.Files))
		return false
	}
	r.within.Files--
	return true
}

// AdmitMessage counts a message of a mailbox and reports whether it may be read.
func (r *Reader) AdmitMessage() bool {
	r.within.Messages--
	return r.within.Messages >= 0
}

// Add reads a file within the document, under its name as a heading of the level. A file that can't be read doesn't
// fail the document.
func (r *Reader) Add(name string, level int, open func() (io.ReadCloser, error)) error {
	return r.AddFrom(name, level, func() (string, error) { return r.copy(open) })
}

// AddFrom is Add for a file that save saves and returns the path of.
func (r *Reader) AddFrom(name string, level int, save func() (path string, err error)) error {
	name = r.named(name)
	if !r.Admit(name) {
		return nil
	}
	path, err := save()
	if err != nil {
		if err := r.Refused(name, err); err != nil {
			return err
		}
		return r.mention(name)
	}
	return r.attached(path, name, level)
}

// named returns a file's name, which may come from anyone, as it is shown.
func (r *Reader) named(name string) string {
	return cmp.Or(extract.CleanName(name), fmt.Sprintf("attachment %d", r.files+1))
}

func (r *Reader) copy(open func() (io.ReadCloser, error)) (string, error) {
	content, err := open()
	if err != nil {
		return "", err
	}
	path, err := r.Save(content)
	return path, errors.Join(err, content.Close())
}

// Attached is Add for a file that is saved already.
func (r *Reader) Attached(path, name string, level int) error {
	name = r.named(name)
	if !r.Admit(name) {
		return nil
	}
	return r.attached(path, name, level)
}

func (r *Reader) attached(path, name string, level int) error {
	defer func() { _ = os.Remove(path) }() // removed with its folder at the latest
	named := false
	isMail, err := r.file(path, name, level, func(b extract.Block) error {
		if !named {
			named = true
			if err := r.Put(extract.Block{Kind: extract.Heading, Level: level, Text: name}); err != nil {
				return err
			}
		}
		b.Level = Below(b, level)
		return r.Put(b)
	})
	if err != nil {
		if err := r.Refused(name, err); err != nil {
			return err
		}
	}
	if named || isMail {
		r.read++
		return nil
	}
	return r.mention(name)
}

// mention emits the name of a file without text.
func (r *Reader) mention(name string) error {
	mention := extract.Block{Kind: extract.Paragraph, Text: r.Mention + name}
	if r.Mention == "" || Characters(mention) > r.limits.Characters {
		return nil
	}
	return r.Put(mention)
}

// file reads a file of any format. A message may be titled by its subject instead of its name.
func (r *Reader) file(path, name string, level int, emit extract.Emit) (isMail bool, err error) {
	src, err := extract.Open(path, name)
	if err != nil {
		return false, err
	}
	if src.Format == extract.EML && r.Message != nil {
		return true, r.Message(path, name, level)
	}
	if r.all.Version(src.Format) == "" {
		return false, taskerr.Errorf(taskerr.UnsupportedFormat, "this kind of file can't be read")
	}
	_, err = r.Read(src, utf8.RuneCountInString(name), emit)
	return false, err
}

// Read extracts a saved file with the extractor of its format, within what is left of the limits. At least one is
// left of each, because a limit of zero means the default. heading is the number of characters of the heading
// to be emitted before it. Its pages that were not read are missed under its name, and its warnings are passed on.
func (r *Reader) Read(src extract.Source, heading int, emit extract.Emit) (extract.Info, error) {
	name := src.Name
	dir, err := r.folder()
	if err != nil {
		return extract.Info{}, err
	}
	src.TempDir, src.Name = dir, r.path+name
	if src.Size == 0 {
		if about, err := os.Stat(src.Path); err == nil {
			src.Size = about.Size()
		}
	}
	limits := r.limits
	limits.Within = r.within
	limits.Depth = cmp.Or(limits.Depth-1, -1)
	limits.Pages, limits.ZipBytes = r.within.Pages, r.within.Unpacked
	limits.Characters = max(limits.Characters-heading, 1)
	info, err := r.all.Extract(r.ctx, src, limits, func(b extract.Block) error {
		b.Page, b.Box = 0, nil
		return emit(b)
	})
	r.within.Pages = max(r.within.Pages-info.Pages, 1)
	r.within.Unpacked = max(r.within.Unpacked-unpacked(src, r.within.Unpacked), 1)
	r.incomplete = r.incomplete || err == nil && info.Incomplete
	if n := info.Properties["unread_pages"]; n != "" && err == nil {
		r.Missed(name, fmt.Sprintf("%s of %d pages could not be read by OCR: %s", n, max(info.Pages, 1),
			info.Properties["unread_reason"]))
	}
	if slices.Equal(info.Warnings, []string{extract.NoText}) && err == nil {
		r.Missed(name, extract.NoText)
	} else if err == nil {
		r.warned(name, info.Warnings)
	}
	return info, err
}

// unpacked returns the unpacked size that a zip-based file declares, at most limit. The reader of such a file
// refuses one that unpacks to more.
func unpacked(src extract.Source, limit int64) int64 {
	switch src.Format {
	case extract.DOCX, extract.PPTX, extract.XLSX, extract.ODF, extract.EPUB, extract.Zip:
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
