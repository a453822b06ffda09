package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/seed-7227ef26/async-worker/internal/extract/archive"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	headBytes   = 64 << 10 // of a file, to detect its format
	pdfMarkRoom = 1024     // readers accept "%PDF-" anywhere in the first KB
)

// Detect detects a file's format from its content. name, chosen by the file's owner, only helps to choose
// between the kinds of text. An unrecognized format is Unknown, without an error. An empty or damaged
// file is a *taskerr.Error of corruption_detected, a password-protected one of unsupported_format.
func Detect(path, name string) (Format, error) {
	file, err := os.Open(path)
	if err != nil {
		return Unknown, fmt.Errorf("inspect the document: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	head := make([]byte, headBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Unknown, fmt.Errorf("inspect the document: %w", err)
	}
	head = head[:n]
	switch {
	case n == 0:
		return Unknown, taskerr.Errorf(taskerr.CorruptionDetected, "the file is empty (0 bytes): upload it again")
	case bytes.Contains(head[:min(n, pdfMarkRoom)], []byte("%PDF-")):
		return PDF, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return detectZip(path)
	case bytes.HasPrefix(head, []byte(compound.Signature)):
		return detectOLE(path)
	case bytes.HasPrefix(head, []byte("II+\x00\x08\x00")), bytes.HasPrefix(head, []byte("MM\x00+\x00\x08")):
		return Image, nil // BigTIFF
	case otherOffice(head):
		return Office, nil
	case oldExcel(head):
		return XLS, nil
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(`{\rtf`)):
		return RTF, nil
	}
	switch {
	case sealed(head):
		return Unknown, errSealed
	case isCBOR(head):
		return Unknown, nil
	}
	if text, ok := asText(head); ok {
		return detectText(text, name), nil
	}
	if len(head) > 12 && string(head[4:8]) == "ftyp" && strings.Contains("heic heix hevc heim heis mif1 msf1 avif", string(head[8:12])) {
		return Image, nil
	}
	if strings.HasPrefix(mimetype.Detect(head).String(), "image/") {
		return Image, nil
	}
	return Unknown, nil
}

// detectZip distinguishes the zip-based formats by their entries.
func detectZip(path string) (Format, error) {
	d := DefaultLimits
	a, err := archive.Open(path, archive.Limits{Entries: d.ZipEntries, Ratio: d.ZipRatio, Bytes: d.ZipBytes})
	if err != nil {
		return Unknown, err
	}
	defer func() { _ = a.Close() }() // read-only
	switch {
	case a.Has("word/document.xml"):
		return DOCX, nil
	case a.Has("ppt/presentation.xml"):
		return PPTX, nil
	case a.Has("xl/workbook.xml"):
		return XLSX, nil
	case a.Has("xl/workbook.bin"):
		return XLSB, nil
	case slices.ContainsFunc(officeParts, a.Has):
		return Office, nil
	case a.Has("[Content_Types].xml"):
		return detectOOXML(a), nil
	case !a.Has("mimetype"):
		return Zip, nil
	}
	switch kind := readStart(a, "mimetype"); {
	case strings.HasPrefix(kind, "application/epub+zip"):
		return EPUB, nil
	case strings.HasPrefix(kind, "application/vnd.oasis.opendocument"):
		return ODF, nil
	}
	return Zip, nil
}

// mainTypes are the content types of main parts, without the words that are the same in all. Only those end with "main":
// a document that embeds a workbook declares the types of both.
var mainTypes = []struct {
	format Format
	marks  []string
}{
	{DOCX, []string{
		"wordprocessingml.document.main", "wordprocessingml.template.main",
		"ms-word.document.macroEnabled.main", "ms-word.template.macroEnabledTemplate.main",
	}},
	{PPTX, []string{
		"presentationml.presentation.main", "presentationml.slideshow.main", "presentationml.template.main",
		"ms-powerpoint.presentation.macroEnabled.main", "ms-powerpoint.slideshow.macroEnabled.main",
		"ms-powerpoint.template.macroEnabled.main", "ms-powerpoint.addin.macroEnabled.main",
	}},
	{XLSX, []string{
		"spreadsheetml.sheet.main", "spreadsheetml.template.main", "ms-excel.sheet.macroEnabled.main",
		"ms-excel.template.macroEnabled.main", "ms-excel.addin.macroEnabled.main",
	}},
}

// detectOOXML detects a package whose main part has an unusual name, such as Word Online's word/document2.xml, from its
// content types.
func detectOOXML(a *archive.Archive) Format {
	types := readStart(a, "[Content_Types].xml")
	for _, m := range mainTypes {
		if slices.ContainsFunc(m.marks, func(mark string) bool { return strings.Contains(types, mark) }) {
			return m.format
		}
	}
	return Zip
}

// readStart returns the start of a part, or "" if it can't be read.
func readStart(a *archive.Archive, part string) string {
	rc, err := a.Part(part)
	if err != nil {
		return ""
	}
	defer func() { _ = rc.Close() }() // read-only
	text, err := io.ReadAll(io.LimitReader(rc, headBytes))
	if err != nil {
		return ""
	}
	return string(text)
}

// asText returns the start of a text file as UTF-8 and reports whether it is text: no NUL, and hardly any
// control characters, among which are those that windows-1252 leaves undefined.
func asText(head []byte) (string, bool) {
	marked, _ := charset.FromBOM(head)
	text, name := charset.DecodeNamed(head)
	controls := 0
	for _, r := range text {
		if r == 0 && marked == "" {
			return "", false
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != '\v' && r != '\x1b' || r == 0x7F ||
			r == utf8.RuneError && name == charset.Windows1252 {
			controls++
		}
	}
	return text, controls*50 <= len(text)
}
