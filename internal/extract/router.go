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

// Runner is what extracts a document of whatever format: a Router, or one Extractor.
type Runner interface {
	Extract(ctx context.Context, src Source, limits Limits, emit Emit) (Info, error)
}

// Router chooses the extractor by the format and holds every extractor to the limits and to clean
// text. It is safe for concurrent use.
type Router struct {
	extractors map[Format]Extractor
	pool       *child.Pool
}

// NewRouter returns a Router over the extractors, one for each format that can be read.
func NewRouter(extractors map[Format]Extractor) *Router { return &Router{extractors: extractors} }

// WithPool is r with documents that share a pool of memory, unless their Limits have another one.
func (r *Router) WithPool(pool *child.Pool) *Router { return &Router{r.extractors, pool} }

// With is r with other extractors for some formats: it calls instead for each format that r reads, with what
// reads it so far, and gives what shall.
func (r *Router) With(instead func(f Format, now Extractor) Extractor) *Router {
	all := make(map[Format]Extractor, len(r.extractors))
	for f, e := range r.extractors {
		all[f] = instead(f, e)
	}
	return &Router{all, r.pool}
}

// Open describes a local file as a Source: its size, and its format as Detect finds it. name is what
// its owner calls it. The error is Detect's.
func Open(path, name string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, fmt.Errorf("look at the document: %w", err)
	}
	format, err := Detect(path, name)
	if err != nil {
		return Source{}, err
	}
	return Source{Path: path, Name: name, Size: info.Size(), Format: format}, nil
}

// Version names the extractor of a format and its version, e.g. "native/pdf@1": as long as it stays,
// the same file gives the same blocks. It is "" for a format that can't be read.
func (r *Router) Version(format Format) string {
	e, ok := r.extractors[format]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s@%d", e.Name(), e.Version())
}

// Formats lists the formats that can be read, sorted.
func (r *Router) Formats() []Format {
	formats := make([]Format, 0, len(r.extractors))
	for f := range r.extractors {
		formats = append(formats, f)
	}
	slices.Sort(formats)
	return formats
}

// Extract emits the document's blocks: never an empty one, and only clean text (see Clean). A Format
// of "" is detected first. Besides the extractor's own errors it gives unsupported_format for a format
// that no extractor reads, and quota_exceeded when the file or its text is over the limits.
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

// checkSize refuses at once what the limits would refuse later, before any block went out and was
// paid for: a character of plain text takes at most four bytes.
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

// safely turns a panic over foreign bytes into an error, so that one file can't end the worker.
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

// guard stands between an extractor and the pipeline.
type guard struct {
	ctx        context.Context
	limit      int
	emit       Emit
	characters int
}

// maxText is the longest text of a block, in bytes: a longer one, such as a page without any element, is emitted
// in pieces, so that a cancel ends the work within it.
const maxText = 1 << 20

func (g *guard) block(b Block) error {
	for len(b.Text) > maxText && b.Table == nil {
		piece := b
		end := pieceEnd(b.Text, b.Kind == Code)
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

// pieceEnd is where a long text is cut: at the end of a line of code, of a word else.
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
	n := b.clean() // of a cell of megabytes that takes a while
	if err := g.ctx.Err(); err != nil {
		return fmt.Errorf("extraction stopped: %w", context.Cause(g.ctx))
	}
	if n == 0 {
		return nil
	}
	if g.characters += n; g.characters > g.limit {
		return TooManyCharacters(g.limit)
	}
	return g.emit(b)
}

func (g *guard) finish(info Info, src Source, e Extractor) Info {
	info.Format = src.Format
	if info.Extractor == "" {
		info.Extractor = e.Name()
	}
	info.Characters = g.characters
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
