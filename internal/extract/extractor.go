package extract

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// Format is what a file is, detected from its content.
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
	RTF      Format = "rtf"
	Image    Format = "image"
	ODF      Format = "odf"  // OpenDocument text, sheet or slides
	EPUB     Format = "epub" // an electronic book
	OLE      Format = "ole"  // Office before 2007, Outlook messages
	Zip      Format = "zip"  // a zip archive of other files
	Unknown  Format = "unknown"
)

// Source is a local file to extract from. The extractor only reads it.
type Source struct {
	Path   string // of the file
	Name   string // as its owner calls it, e.g. "reports/q3.pdf"; a hint where content doesn't decide
	Size   int64  // bytes
	Format Format // as Detect found it

	TempDir string // where files and working folders of its reading are made; empty: os.TempDir()

	SHA256 string // of the file, hex; empty: not known
	Memory Memory // of the task that this is an attempt at; nil: none is kept
	Fresh  bool   // what was kept of the same bytes for an earlier task will not do

	Pages func(total int) // called once when their number is known before the end; nil: not called
}

// HasPages calls Pages, when it is set, with the number of pages.
func (s Source) HasPages(total int) {
	if s.Pages != nil && total > 0 {
		s.Pages(total)
	}
}

// Memory keeps one value from one attempt at a task to the next, for an extractor whose work is paid
// for elsewhere: it goes on where the attempt before had to stop.
type Memory interface {
	// Load reads into v what was saved last; false: nothing was.
	Load(v any) bool
	// Save keeps v for the next attempt, soon and without waiting for it.
	Save(v any)
}

// Limits bound what one document may cost. A zero field takes its default from DefaultLimits.
type Limits struct {
	Bytes      int64         // of the file
	Pages      int           // of the document
	Characters int           // of extracted text
	ZipEntries int           // of a zip-based format
	ZipRatio   int           // unpacked to packed, of any entry over 1 MiB unpacked
	ZipBytes   int64         // unpacked, of all entries that are read
	XMLDepth   int           // nested elements
	Time       time.Duration // of one external program's run
	PageTime   time.Duration // of one page within it
	ChildBytes int64         // memory of an external program, when there is no Pool

	// Pool is the memory for programs and decoders, of all documents that are read at a time; nil: it has no end.
	Pool *child.Pool
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
}

// Emit takes the next block in reading order; an error from it ends the extraction with that error.
type Emit func(Block) error

// Extractor reads some formats. It is safe for concurrent use. Errors are *taskerr.Error:
// unsupported_format, corruption_detected (damaged, encrypted, a bomb), quota_exceeded (over a
// limit), or a retryable class; their messages are sentences that a user understands.
type Extractor interface {
	// Name is e.g. "native/pdf".
	Name() string
	// Version rises when the same file would give other blocks.
	Version() int
	// Extract emits the document's blocks and returns what is known of it as a whole. Title may be set
	// only when the document states one (metadata, a title element).
	Extract(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error)
}
