package extract

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// Format is a file format, detected from the content.
type Format string

// The formats that are distinguished.
const (
	PDF      Format = "pdf"
	DOCX     Format = "docx"
	PPTX     Format = "pptx"
	XLSX     Format = "xlsx"
	HTML     Format = "html"
	Markdown Format = "markdown"
	CSV      Format = "csv"
	Text     Format = "text"
	EML      Format = "eml"
	MBOX     Format = "mbox" // a mailbox of messages
	RTF      Format = "rtf"
	XML      Format = "xml"
	Image    Format = "image"
	ODF      Format = "odf"    // OpenDocument text, sheet or slides
	EPUB     Format = "epub"   // an electronic book
	DOC      Format = "doc"    // Word before 2007
	XLS      Format = "xls"    // Excel before 2007
	PPT      Format = "ppt"    // PowerPoint before 2007
	XLSB     Format = "xlsb"   // Excel, binary
	MSG      Format = "msg"    // an Outlook message
	Office   Format = "office" // of other office programs: WordPerfect, Works, Pages, Visio, HWP, …
	OLE      Format = "ole"    // another compound file
	Zip      Format = "zip"    // a zip archive of other files
	Unknown  Format = "unknown"
)

// Source is a local file to extract from. The extractor only reads it.
type Source struct {
	Path   string // of the file
	Name   string // the owner's name for it, for example "reports/q3.pdf"; a hint where the content doesn't decide
	Size   int64  // bytes
	Format Format // as detected by Detect

	TempDir string // for temporary files and working folders; empty: os.TempDir()

	SHA256 string // of the file, hex; empty: unknown
	Memory Memory // of the task of this attempt; nil: nothing is kept
	Fresh  bool   // don't use results that were kept for an earlier task with the same bytes
	Whole  bool   // emit the headers and footers of a PDF's pages, too, to look values up; default: they are omitted

	Pages func(total int) // called once if their number is known before the end; nil: not called
}

// HasPages calls Pages, if it is set, with the number of pages.
func (s Source) HasPages(total int) {
	if s.Pages != nil && total > 0 {
		s.Pages(total)
	}
}

// Memory passes one value from one attempt of a task to the next, for an extractor that pays for its work
// elsewhere: it continues where the previous attempt stopped.
type Memory interface {
	// Load reads the last saved value into v and reports whether there is one.
	Load(v any) bool
	// Save keeps v for the next attempt. It saves soon and doesn't wait.
	Save(v any)
}

// Limits limit the cost of one document. A zero field takes its default from DefaultLimits.
type Limits struct {
	Bytes      int64         // of the file
	Pages      int           // of the document
	Characters int           // of extracted text
	ZipEntries int           // of a zip-based format
	ZipRatio   int           // unpacked to packed, for any entry over 1 MiB unpacked
	ZipBytes   int64         // unpacked, over all entries that are read
	XMLDepth   int           // nested elements
	Time       time.Duration // of one external program's run
	PageTime   time.Duration // of one page within it
	ChildBytes int64         // memory of an external program without a Pool
	Depth      int           // how deep files within files are read; negative: not at all
	Files      int           // files within the document that are read, at all depths

	// Pool is the memory that programs and decoders share for all documents being read; nil: unlimited.
	Pool *child.Pool
	// Within is what is left for the files within a document, at all depths; nil: this is not such a file.
	Within *Within
}

// Within is what is left of the limits for all files within one document.
type Within struct {
	Files, Pages    int
	Messages        int   // of mailboxes
	Bytes, Unpacked int64 // of saved files; of zip-based ones, unpacked
	// Missed records for the outermost document what was not read of a file, and the reason.
	Missed func(name, reason string)
	// Warned records for the outermost document a warning about a file that was read.
	Warned func(name, warning string)
}

// DefaultLimits suit a worker of 512 MB.
var DefaultLimits = Limits{
	Bytes:      512 << 20,
	Pages:      5000,
	Characters: 20_000_000,
	ZipEntries: 10_000,
	ZipRatio:   200,
	ZipBytes:   512 << 20,
	XMLDepth:   256,
	Time:       5 * time.Minute,
	PageTime:   30 * time.Second,
	ChildBytes: 2 << 30,
	Depth:      8,
	Files:      1000,
}

// Emit takes the next block in reading order. Its error ends the extraction and is returned.
type Emit func(Block) error

// Extractor reads some formats. It is safe for concurrent use. Errors are *taskerr.Error:
// unsupported_format (also with a password), corruption_detected (damaged, a bomb), quota_exceeded (over a
// limit), or a retryable class; their messages are sentences that a user understands.
type Extractor interface {
	// Name is for example "native/pdf".
	Name() string
	// Version increases when the same file would produce other blocks.
	Version() int
	// Extract emits the document's blocks and returns its Info. Title may be set only if the document states
	// one (metadata, a title element).
	Extract(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error)
}
