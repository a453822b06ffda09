package extract

import (
	"bytes"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// oleStreams are the streams by which the documents in compound files are recognized.
var oleStreams = []struct {
	stream string
	format Format
}{
	{"WordDocument", DOC},
	{"Workbook", XLS},
	{"Book", XLS},
	{"PowerPoint Document", PPT},
	{"__properties_version1.0", MSG},
	{"VisioDocument", Office},
	{"Quill", Office},  // Publisher
	{"MatOST", Office}, // Works
	{"MM", Office},     // Works
}

// detectOLE distinguishes what compound files hold: Office files before 2007, messages, and encrypted newer
// documents ([MS-OFFCRYPTO] 1.3.2).
func detectOLE(path string) (Format, error) {
	f, err := compound.Open(path)
	if err != nil {
		return Unknown, err
	}
	defer func() { _ = f.Close() }() // read-only
	if f.Has("EncryptedPackage") {
		return Unknown, taskerr.PasswordProtected("the Office file")
	}
	if strings.HasPrefix(string(f.Read("FileHeader", 64)), "HWP Document File") {
		return Office, nil
	}
	for _, o := range oleStreams {
		if f.Has(o.stream) {
			return o.format, nil
		}
	}
	return OLE, nil
}

// otherOffice recognizes the start of documents of other office programs.
func otherOffice(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xFFWPC")) // WordPerfect
}

// officeParts are parts of zip archives by which documents of other office programs are recognized.
var officeParts = []string{"visio/document.xml", "Index/Document.iwa", "Index.zip", "index.apxl", "index.xml.gz"}

// oldExcel recognizes the start of a workbook of Excel 2, 3 or 4, which is no compound file: the record BOF, its length,
// a version, and the kind of what follows ([MS-XLS] 2.4.21 describes its successor).
func oldExcel(head []byte) bool {
	const worksheet, workbook = "\x10\x00", "\x00\x01"
	for _, begin := range []string{"\x09\x00\x04\x00", "\x09\x02\x06\x00", "\x09\x04\x06\x00"} {
		if kind := min(len(begin)+2, len(head)); bytes.HasPrefix(head, []byte(begin)) &&
			(bytes.HasPrefix(head[kind:], []byte(worksheet)) || bytes.HasPrefix(head[kind:], []byte(workbook))) {
			return true
		}
	}
	return false
}
