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
