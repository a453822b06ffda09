package pdf

import (
	"context"
	"io"
	"math"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// The styles of a page's words come from what the page draws, which is read for its lines anyway. Where that isn't
// certain (a font without widths, codes that need a table, fields that readers draw themselves, layers that aren't
// shown), pdftohtml is asked: it parses the file again and costs about as much as pdftotext.

// runsOf returns the runs of a page from what it draws, or nil if some may be missing.
func runsOf(number int, d *content.Drawing) *runPage {
	if d == nil || d.Unknown {
		return nil
	}
	p := &runPage{number: number, width: d.Width, height: d.Height, runs: make([]run, 0, len(d.Texts))}
	type look struct {
		font *content.Font
		size int
	}
	styles := map[look]style{}
	for _, t := range d.Texts {
		at := look{t.Font, int(math.Round(zoom * t.Size))} // as pdftohtml rounds it
		s, ok := styles[at]
		if !ok {
			s = fontStyle(t.Font.Name, float64(at.size)/zoom)
			s.bold, s.italic = s.bold || t.Font.Bold, s.italic || t.Font.Italic
			styles[at] = s
		}
		p.runs = append(p.runs, run{box: box{t.Left, t.Top, t.Right, t.Bottom}, style: s, line: t.Line, hidden: t.Hidden, gaps: t.Gaps})
	}
	return p
}

// style gives the words of a page their styles, and takes out those that are not drawn. It returns the runs if they are
// what the page draws, else nil.
func (p poppler) style(ctx context.Context, pg *page, drawn *content.Drawing, s *styling) *runPage {
	if runs := runsOf(pg.number, drawn); runs != nil {
		pg.sizeAs(runs)
		if runs.explains(pg) {
			applyStyles(pg, p.shown(ctx, pg, runs))
			return runs
		}
	}
	if drawn != nil && len(pg.words) == 0 {
		return nil
	}
	runs, ended := s.at(ctx, pg.number)
	if runs == nil {
		p.plain.add(pg, ended)
		return nil
	}
	pg.sizeAs(runs)
	if pg.drawsFewer(runs) {
		runs = p.findInvisible(ctx, pg, runs)
	}
	applyStyles(pg, runs)
	return nil
}

// explains reports whether the runs have nearly all of the page's words. Poppler gives text that runs up or down, or
// slanted, no style either.
func (p *runPage) explains(pg *page) bool {
	const least, share = 10, 0.02 // letters
	if abs(pg.width-p.width) > 1.5 || abs(pg.height-p.height) > 1.5 {
		return false
	}
	index := indexRuns(p.runs, 0, 0)
	all, lacks := 0, 0
	for _, w := range pg.words {
		n := letters(w.text)
		all += n
		if _, ok := index.find(w.centerX(), w.centerY()); !ok && w.height() < 1.5*w.width() {
			lacks += n
		}
	}
	return lacks <= least || float64(lacks) <= share*float64(all)
}

// styling reads the runs of pages with pdftohtml. A page that needs it is mostly followed by others: so one process
// reads a few pages, and more if they were needed.
type styling struct {
	last    int // page that is read at all
	read    func(ctx context.Context, first, last int, yield func(*runPage) error) child.Result
	open    *runPages
	count   int // pages of the last process
	next    int // page after those
	running sync.WaitGroup
}

// readStyles reads the runs of pages with pdftohtml.
func (p poppler) readStyles(ctx context.Context, first, last int, yield func(*runPage) error) child.Result {
	result, err := child.Run(ctx, p.command("pdftohtml", func(r io.Reader) error {
		_, err := readRuns(r, yield)
		return err
	}, p.runArgs(first, last)))
	p.packs.note(result)
	p.lacks.note(err)
	return result
}

// runPages are those that one process reads.
type runPages struct {
	pages chan *runPage
	held  *runPage // it was read and not asked for yet
	stop  context.CancelCauseFunc
	end   int
	ended child.Result // valid once pages is closed
}

// mostRunPages limits the pages that one process reads: those behind a last one that needs it are in vain.
const mostRunPages = 32

// at returns the runs of a page, or nil and how pdftohtml ended before it. Pages are read in order.
func (s *styling) at(ctx context.Context, number int) (*runPage, child.Result) {
	if s.open != nil && number > s.open.end {
		s.close()
	}
	if s.open == nil {
		s.begin(ctx, number)
	}
	for s.open.held == nil || s.open.held.number < number {
		p, ok := <-s.open.pages
		if !ok {
			break
		}
		s.open.held = p
	}
	if p := s.open.held; p != nil && p.number >= number {
		if p.number > number { // poppler left the page out
			return nil, child.Result{}
		}
		return p, child.Result{}
	}
	ended := s.open.ended
	s.close()
	return nil, ended
}

func (s *styling) begin(ctx context.Context, first int) {
	if first == s.next {
		s.count = min(2*s.count, mostRunPages)
	} else {
		s.count = 1
	}
	last := min(first+s.count-1, s.last)
	s.next = last + 1
	ctx, stop := context.WithCancelCause(ctx)
	open := &runPages{pages: make(chan *runPage), stop: stop, end: last}
	s.open = open
	s.running.Go(func() {
		defer close(open.pages)
		open.ended = s.read(ctx, first, last, func(p *runPage) error { return send(ctx, open.pages, p) })
	})
}

// close stops the process, if one runs.
func (s *styling) close() {
	if s.open != nil {
		s.open.stop(errDone)
		s.running.Wait()
		s.open = nil
	}
}
