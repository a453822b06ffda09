package pdf

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// document lays out pages in order, each when `window` more pages were read.
type document struct {
	pages     int
	textPages int
	effort    int   // per page
	dense     []int // pages that exceeded the effort to find their columns
	whole     bool  // running headers and footers are emitted, too
	stats     *stats
	splitter  splitter
	composer  composer

	sheets []*sheet // up to window pages before the next one to be laid out, that one, and up to window pages after it
	next   int      // index of the next one to be laid out
}

func newDocument(pages int, emit extract.Emit) *document {
	s := newStats()
	return &document{
		pages: pages, stats: s, effort: maxEffort, splitter: splitter{edges: map[int]struct{}{}},
		composer: composer{stats: s, words: newVocabulary(), emit: emit},
	}
}

// outline sets the document's bookmarks, before any page is laid out.
func (d *document) outline(items []outlineItem) { d.composer.levels.outline = newOutlineIndex(items) }

// add takes the next page and emits the pages that are ready.
func (d *document) add(ctx context.Context, p *page) error {
	if len(p.words) > 0 && !p.fromImage {
		d.textPages++
	}
	d.stats.add(p)
	p.joinLineNumbers()
	d.composer.words.learn(p.words)
	p.known = d.composer.words
	var before *sheet
	if n := len(d.sheets); n > 0 {
		before = d.sheets[n-1]
	}
	d.sheets = append(d.sheets, newSheet(p, before))
	if len(d.sheets)-d.next > window {
		return d.layOut(ctx)
	}
	return nil
}

// flush emits the remaining pages.
func (d *document) flush(ctx context.Context) error {
	for d.next < len(d.sheets) {
		if err := d.layOut(ctx); err != nil {
			return err
		}
	}
	return d.composer.flush()
}

// layOut emits the blocks of the next page and drops the pages that are no longer needed.
func (d *document) layOut(ctx context.Context) error {
	s := d.sheets[d.next]
	others := make([]*sheet, 0, 2*window)
	others = append(others, d.sheets[max(0, d.next-window):d.next]...)
	others = append(others, d.sheets[d.next+1:min(len(d.sheets), d.next+1+window)]...)
	d.next++
	if err := d.compose(ctx, s, others); err != nil {
		return err
	}
	s.words, s.segments, s.answer.Blocks = nil, nil, nil // later pages compare only its edges
	s.rules, s.fills, s.dots, s.tables = nil, nil, nil, nil
	if d.next > window {
		d.sheets = append(d.sheets[:0:0], d.sheets[d.next-window:]...)
		d.next = window
	}
	return nil
}

// compose emits the blocks of a page and those that its Router adds.
func (d *document) compose(ctx context.Context, s *sheet, others []*sheet) error {
	if s.answer.First {
		if err := d.put(s.answer.Blocks); err != nil {
			return err
		}
	}
	body := s.segments
	if !d.whole && !s.answer.Whole {
		body = s.body(others, d.pages, d.stats)
	}
	e := &effort{d.effort}
	regions, err := readingOrder(ctx, body, e)
	if err != nil {
		return err
	}
	if e.left == 0 {
		d.dense = append(d.dense, s.number)
	}
	for _, r := range regions {
		for _, p := range d.splitter.pieces(s.page, r) {
			if err := ended(ctx); err != nil {
				return err
			}
			if err := d.composer.add(p); err != nil {
				return err
			}
		}
	}
	if s.answer.First {
		return nil
	}
	return d.put(s.answer.Blocks)
}

// put emits blocks from a Router. No paragraph continues across them.
func (d *document) put(blocks []extract.Block) error {
	if len(blocks) == 0 {
		return nil
	}
	if err := d.composer.flush(); err != nil {
		return err
	}
	for _, b := range blocks {
		if err := d.composer.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// warnings returns the warnings about incomplete layout.
func (d *document) warnings() []string {
	if len(d.dense) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("page %s is too dense to find all its columns and tables: "+
		"lines side by side may be read as one", extract.PageRanges(d.dense))}
}
