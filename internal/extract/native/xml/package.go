package xml

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
)

// packaged is a kind of document that is usually a package of several parts, in one piece: the extractor of packages
// reads it when it stands in for each of its parts.
type packaged struct {
	format extract.Format
	parts  []string // that the document stands for
	mime   string   // of OpenDocument
	image  string   // the element that holds images, which are left out
}

// packageOf returns how to read a document with the root element, or nil.
func packageOf(root xml.StartElement) *packaged {
	switch {
	case root.Name.Local == "document" && strings.Contains(root.Name.Space, "opendocument"):
		return &packaged{extract.ODF, []string{"content.xml", "styles.xml", "meta.xml"}, attr(root, "mimetype"), "office:binary-data"}
	case root.Name.Local == "wordDocument" && strings.Contains(root.Name.Space, "/office/word/2003/"):
		return &packaged{extract.DOCX, []string{"word/document.xml", "word/styles.xml"}, "", "w:binData"}
	}
	return nil
}

func (p *packaged) read(
	ctx context.Context, all nested.All, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	dir, err := os.MkdirTemp(src.TempDir, "xml-")
	if err != nil {
		return extract.Info{}, fmt.Errorf("make a folder for a package: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "package")
	if err := p.pack(path, src.Path); err != nil {
		return extract.Info{}, fmt.Errorf("make a package: %w", err)
	}
	info, err = all.Extract(ctx, extract.Source{Path: path, Name: src.Name, Format: p.format, TempDir: src.TempDir}, limits,
		emit)
	return info, err
}

// pack writes the package without packing its parts, so that it doesn't look like a bomb.
func (p *packaged) pack(path, document string) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	if p.mime != "" {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, p.mime)
		}
		if err != nil {
			return err
		}
	}
	for _, part := range p.parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: part, Method: zip.Store})
		if err == nil {
			err = copyWithout(w, document, p.image)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// copyWithout copies a document except the content of an element, such as an image in base64, which may be larger than
// a text is allowed to be.
func copyWithout(w io.Writer, document, element string) error {
	file, err := os.Open(document)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read-only
	in, out := bufio.NewReaderSize(file, 64<<10), bufio.NewWriter(w)
	within := false
	for {
		piece, err := in.ReadSlice('<')
		if within {
			piece = piece[:0]
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
		}
		if _, e := out.Write(piece); e != nil {
			return e
		}
		if within && err == nil {
			if e := out.WriteByte('<'); e != nil {
				return e
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return out.Flush()
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return err
		}
		name, _ := in.Peek(len(element) + 1)
		start := bytes.HasPrefix(name, []byte(element)) && len(name) > len(element) && strings.ContainsRune("> \t\r\n", rune(name[len(element)]))
		within = start
		if start { // up to the end of its tag
			tag, err := in.ReadSlice('>')
			if err != nil {
				return errors.Join(err, out.Flush())
			}
			if _, e := out.Write(tag); e != nil {
				return e
			}
			within = !bytes.HasSuffix(tag, []byte("/>"))
		}
	}
}
