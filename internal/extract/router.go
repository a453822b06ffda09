package extract

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Runner extracts documents: a Router for any format, or one Extractor.
type Runner interface {
	Extract(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error)
}

// Router chooses the extractor by format, and enforces the limits and clean text on every extractor. It is safe
// for concurrent use.
type Router struct {
	extractors map[Format]Extractor
	pool       *child.Pool
}

// NewRouter returns a Router over the extractors, one for each format that can be read.
func NewRouter(extractors map[Format]Extractor) *Router { return &Router{extractors: extractors} }

// WithPool returns r with a pool of memory that documents share unless their Limits have another one.
func (r *Router) WithPool(pool *child.Pool) *Router { return &Router{r.extractors, pool} }

// With returns r with other extractors for some formats. It calls instead with each format of r and its current
// extractor, and uses the result.
func (r *Router) With(instead func(f Format, now Extractor) Extractor) *Router {
	all := make(map[Format]Extractor, len(r.extractors))
	for f, e := range r.extractors {
		all[f] = instead(f, e)
	}
	return &Router{all, r.pool}
}

// Open describes a local file as a Source, with its size and the format from Detect. name is the owner's name
// for it. The error is Detect's.
func Open(path, name string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, fmt.Errorf("inspect the document: %w", err)
	}
	format, err := Detect(path, name)
	if err != nil {
		return Source{}, err
	}
	return Source{Path: path, Name: name, Size: info.Size(), Format: format}, nil
}

// Version returns the extractor of a format and its version, for example "native/pdf@1". While it stays the
// same, the same file produces the same blocks. It is "" for an unsupported format.
func (r *Router) Version(format Format) string {
	e, ok := r.extractors[format]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s@%d", e.Name(), e.Version())
}

// Formats lists the supported formats, sorted.
func (r *Router) Formats() []Format {
	formats := make([]Format, 0, len(r.extractors))
	for f := range r.extractors {
		formats = append(formats, f)
	}
	slices.Sort(formats)
	return formats
}

// Extract emits the document's blocks: only clean text (see Clean), and no empty block. It detects a Format of
// "" first. In addition to the extractor's errors it returns unsupported_format for a format without an
// extractor, and quota_exceeded if the file or its text exceeds the limits.
func (r *Router) Extract(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error) {
	if src.Format == "" {
		found, err := Open(src.Path, src.Name)
		if err != nil {
			return Info{}, err
		}
		src = found
	}
	limits = limits.WithDefaults()
	limits.Pool = cmp.Or(limits.Pool, r.pool)
	e, ok := r.extractors[src.Format]
	if !ok {
		return Info{}, r.unsupported(src.Format)
	}
	if err := checkSize(src, limits); err != nil {
		return Info{}, err
	}
	g := &guard{ctx: ctx, limit: limits.Characters, emit: emit}
	info, err := safely(e, func() (Info, error) { return e.Extract(ctx, src, limits, g.block) })
	if err != nil {
		return Info{}, err
	}
	return g.finish(info, src, e), nil
}

// checkSize refuses at once what the limits would refuse later, before any block was emitted and paid for. A
// character of plain text takes at most four bytes.
func checkSize(src Source, limits Limits) error {
	if src.Size > limits.Bytes {
		return TooLarge(src.Size, limits.Bytes)
	}
	switch src.Format {
	case Text, CSV, Markdown:
		if src.Size/4 > int64(limits.Characters) {
			return TooManyCharacters(limits.Characters)
		}
	}
	return nil
}

// safely turns a panic over a file's content into an error, so that one file can't end the worker.
func safely(e Extractor, extract func() (Info, error)) (info Info, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &taskerr.Error{
				Class:   taskerr.InternalBug,
				Message: "the reader of this kind of file failed on it; the worker's log has the details",
				Cause:   fmt.Errorf("panic in %s: %T\n%s", e.Name(), p, debug.Stack()),
			}
		}
	}()
	return extract()
}

// guard checks the blocks between an extractor and the pipeline.
type guard struct {
	ctx        context.Context
	limit      int
	emit       Emit
	characters int // of text
	markers    int // characters of the list items' markers, which count toward the limit
	links      int
}

// NoText is the warning about a document without any text, unless there is one that says more.
const NoText = "no text was found: the document is empty, or what it shows are pictures or drawings"

// maxText is the longest text of a block, in bytes. A longer one, for example a page without elements, is
// emitted in pieces, so that a cancellation stops the work within it.
const maxText = 1 << 20

func (g *guard) block(b Block) error {
	for len(b.Text) > maxText && b.Table == nil {
		piece := b
		end := pieceEnd(b.Text, b.Kind == Code)
		piece.Links, b.Links = CutLinks(b.Links, 0, end), CutLinks(b.Links, end, len(b.Text))
		piece.Text, b.Text = b.Text[:end], b.Text[end:]
		if err := g.piece(piece); err != nil {
			return err
		}
		if b.Kind != Code {
			b.Kind, b.Level, b.Marker = Paragraph, 0, ""
		}
	}
	return g.piece(b)
}

// pieceEnd returns where to cut a long text: at the end of a line of code, otherwise of a word.
func pieceEnd(text string, code bool) int {
	blanks := " \n\t"
	if code {
		blanks = "\n"
	}
	if end := strings.LastIndexAny(text[:maxText], blanks); end > maxText/2 {
		return end + 1
	}
	end := maxText
	for end > 1 && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

func (g *guard) piece(b Block) error {
	if err := g.ctx.Err(); err != nil {
		return fmt.Errorf("extraction stopped: %w", context.Cause(g.ctx))
	}
	n := b.clean() // this takes a while for a cell of megabytes
	if err := g.ctx.Err(); err != nil {
		return fmt.Errorf("extraction stopped: %w", context.Cause(g.ctx))
	}
	if n == 0 {
		return nil
	}
	g.markers += utf8.RuneCountInString(b.Marker)
	if g.characters += n; g.characters+g.markers > g.limit {
		return TooManyCharacters(g.limit)
	}
	g.limitLinks(&b)
	return g.emit(b)
}

// limitLinks drops the links beyond those that a document may have.
func (g *guard) limitLinks(b *Block) {
	g.links += len(b.Links)
	if g.links > maxLinks {
		b.Links = nil
	}
	if b.Table == nil {
		return
	}
	for _, row := range b.Table.Rows {
		for i := range row {
			g.links += len(row[i].Links)
			if g.links > maxLinks {
				row[i].Links = nil
			}
		}
	}
}

func (g *guard) finish(info Info, src Source, e Extractor) Info {
	info.Format = src.Format
	if info.Extractor == "" {
		info.Extractor = e.Name()
	}
	info.Characters = g.characters
	if g.characters == 0 && len(info.Warnings) == 0 && info.Properties["unread_pages"] == "" {
		info.Warnings = []string{NoText}
	}
	for i, warning := range info.Warnings {
		info.Warnings[i] = Clean(warning)
	}
	info.Title = titleOf(info.Title, src.Name)
	for name, value := range info.Properties {
		if value = Clean(value); value == "" {
			delete(info.Properties, name)
			continue
		}
		info.Properties[name] = value
	}
	return info
}

func (r *Router) unsupported(f Format) error {
	_, what := names(f)
	known := make([]string, 0, len(r.extractors))
	for _, format := range r.Formats() {
		short, _ := names(format)
		known = append(known, short)
	}
	return taskerr.Errorf(taskerr.UnsupportedFormat,
		"this is %s, which can't be read yet; what can be read is %s: convert it to one of these",
		what, strings.Join(known, ", "))
}
