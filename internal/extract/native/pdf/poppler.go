package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// debianPackage contains the programs.
const debianPackage = "poppler-utils"

// poppler reads one file with poppler's programs.
type poppler struct {
	path   string // absolute
	limits child.Limits
	pool   *child.Pool // nil: memory is unlimited
	plain  *plainPages
	drawn  *drawings
	high   map[float64]bool // see page.trim
	packs  *languagePacks
	lacks  *shortage
}

// Memory from the pool, in bytes, for one of poppler's programs that print text. Ordinary documents take 3 MiB,
// and the table of objects grows with the file.
const (
	leastMemory = 32 << 20
	mostMemory  = 96 << 20
	ofFile      = 8 // an eighth of it
)

func newPoppler(src extract.Source, path string, l extract.Limits) poppler {
	memory := l.ChildBytes
	if l.Pool != nil {
		memory = min(memory, leastMemory+src.Size/ofFile, mostMemory)
	}
	return poppler{path, child.Limits{
		Wait: l.Time, CPU: l.Time, IdleTimeout: l.PageTime, Memory: memory,
		File:       1 << 20, // they write only to their standard output
		StderrTail: 32 << 10,
	}, l.Pool, &plainPages{}, &drawings{path: path}, map[float64]bool{}, &languagePacks{}, &shortage{}}
}

// command returns the step that runs one of the programs and passes its output to read.
func (p poppler) command(program string, read func(io.Reader) error, args []string) child.Command {
	return child.Command{
		Program: program, Package: debianPackage, Args: args, Files: []string{p.path}, NoFolder: true, Stdout: read,
		Limits: p.limits,
	}
}

// run runs one of the programs as a step, and once more if it needs more memory. read then starts again.
func (p poppler) run(
	ctx context.Context, program string, read func(io.Reader) error, args ...string,
) (child.Result, error) {
	result, err := p.pool.Run(ctx, func() child.Command { return p.command(program, read, args) })
	p.packs.note(result)
	p.lacks.note(err)
	return result, err
}

func (p poppler) runArgs(first, last int) []string {
	return []string{
		"-xml", "-i", "-nodrm", "-fontfullname", "-stdout", "-enc", "UTF-8", "-zoom", strconv.Itoa(zoom),
		"-f", strconv.Itoa(first), "-l", strconv.Itoa(last), p.path,
	}
}

// pages reads the pages from first to last and yields each as soon as it was read. The result is that of
// pdftotext.
func (p poppler) pages(ctx context.Context, first, last int, yield func(*page) error) (child.Result, error) {
	got, release, err := p.pool.Take(ctx, child.Stream, programsAtOnce*p.limits.Memory)
	if err != nil {
		return child.Result{}, err
	}
	defer release()
	p.limits.Memory = got / programsAtOnce
	return p.stream(ctx, first, last, yield)
}

// alone reads one page with the maximum memory of a step. The page is nil if it can't be read.
func (p poppler) alone(ctx context.Context, number int) (found *page, result child.Result, err error) {
	const atOnce = programsAtOnce + 1 // the programs that findInvisible runs belong to this step
	got, release, err := p.pool.Take(ctx, child.Step, p.pool.Largest(child.Step))
	if err != nil {
		return nil, child.Result{}, err
	}
	defer release()
	if p.pool != nil {
		p.limits.Memory, p.pool = got/atOnce, nil
	}
	result, err = p.stream(ctx, number, number, func(pg *page) error { found = pg; return nil })
	return found, result, err
}

// programsAtOnce is the number of programs that stream runs.
const programsAtOnce = 2

// stream reads the pages as pdftotext prints them, with the position of each word, while their styles are read beside
// it. The styles are optional.
func (p poppler) stream(ctx context.Context, first, last int, yield func(*page) error) (child.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel(errDone)

	words := make(chan *page)
	var result child.Result
	var err error
	all.Go(func() {
		defer close(words)
		result, err = child.Run(ctx, p.command("pdftotext", func(r io.Reader) error {
			return readWords(r, first, func(pg *page) error { return send(ctx, words, pg) })
		}, []string{"-bbox-layout", "-enc", "UTF-8", "-f", strconv.Itoa(first), "-l", strconv.Itoa(last), p.path, "-"}))
		p.packs.note(result)
	})
	styles := &styling{last: last, read: p.readStyles}
	defer styles.close()
	glyphs := &glyphPages{last: last}
	for pg := range words {
		if pg.absent() {
			p.plain.absent = append(p.plain.absent, pg.number)
		}
		drawn, links := p.drawn.at(ctx, pg.number)
		runs := p.style(ctx, pg, drawn, styles)
		pg.trim(p.high)
		pg.draw(drawn)
		pg.link(links)
		pg.fillFields(links)
		p.readGlyphs(ctx, pg, runs, glyphs)
		pg.straighten()
		pg.mirror()
		if err := yield(pg); err != nil {
			return child.Result{}, err
		}
	}
	return result, err
}

// plainPages are the pages without styles, because pdftohtml died before them, or because there is nothing on them.
type plainPages struct {
	numbers []int
	reason  child.End // of the first
	absent  []int     // pages that the document counts and does not have
}

// add records a page without styles, and how pdftohtml ended.
func (l *plainPages) add(pg *page, ended child.Result) {
	if len(pg.words) == 0 {
		return
	}
	if len(l.numbers) == 0 {
		l.reason = ended.End
	}
	l.numbers = append(l.numbers, pg.number)
}

// warnings returns warnings about the pages that were read without their styles or without their lines.
func (p poppler) warnings() []string {
	drawn := append(p.drawn.warnings(), p.packs.warnings()...)
	if absent := p.plain.absent; len(absent) > 0 {
		drawn = append(drawn, fmt.Sprintf("page %s is missing in the file, which is damaged", extract.PageRanges(absent)))
	}
	if len(p.plain.numbers) == 0 {
		return drawn
	}
	return append(drawn, fmt.Sprintf("the fonts of page %s could not be read (pdftohtml ended by %s): headings and code "+
		"there may be read as plain text",
		extract.PageRanges(p.plain.numbers), p.plain.reason))
}

// errDone stops the programs of a range of pages that is not read further.
var errDone = errors.New("enough was read")

func send[T any](ctx context.Context, to chan<- T, value T) error {
	select {
	case to <- value:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("pass on a page: %w", context.Cause(ctx))
	}
}
