package pdf

import (
	"context"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Router is asked about every page when it was read and before it is laid out: are the words that the
// file has of it what a reader sees there?
type Router interface {
	// Route is called for the pages in order. It returns a function that gives the answer, and is called
	// when the page is laid out: until then other pages are routed, at most Ahead of them. Nil: the page
	// is taken as it is. The answer's error ends the extraction.
	Route(ctx context.Context, p PageText) func() (Answer, error)
	// Ahead is how many pages may wait for their answers.
	Ahead() int
}

// PageText is what the file has of a page.
type PageText struct {
	Number        int
	Width, Height float64 // points, as it is shown; zero: poppler could not read the page
	Words         []Word
	Chars         int // of its text as it is in the file
	Garbage       int // of those: replacement characters, controls, private code points that are not bullets
	// Layer says that an image covers the page and that its words are an invisible layer over it, as
	// programs for scans make it. Other invisible words are none of a page's.
	Layer     bool
	Invisible int // words that were left out because they are invisible
}

// Word is a word where it stands on the page.
type Word struct {
	Text string
	Box  extract.Box
}

// Answer says what is made of a page.
type Answer struct {
	Drop   bool            // its own words are not used
	Whole  bool            // they are all used, also what looks like a running header or footer
	Blocks []extract.Block // go to its place
	First  bool            // before its own blocks and not after them
}

// text is what a Router gets of a page.
func (p *page) text() PageText {
	t := PageText{
		Number: p.number, Width: p.width, Height: p.height, Chars: p.chars, Garbage: p.garbage,
		Layer: p.layer, Invisible: p.invisible, Words: make([]Word, len(p.words)),
	}
	if p.turned == fromUpwards || p.turned == fromDownwards {
		t.Width, t.Height = t.Height, t.Width
	}
	for i, w := range p.words {
		b := p.original(w.box)
		t.Words[i] = Word{w.text, extract.Box{Left: b.left, Top: b.top, Right: b.right, Bottom: b.bottom}}
	}
	return t
}

// waiting are pages whose answers are awaited.
type waiting struct {
	router  Router
	queue   []question
	arrived func(context.Context, *page) error
}

type question struct {
	page   *page
	answer func() (Answer, error)
}

// add takes the next page, and hands on those that are answered.
func (w *waiting) add(ctx context.Context, p *page) error {
	if w.router == nil {
		return w.arrived(ctx, p)
	}
	w.queue = append(w.queue, question{p, w.router.Route(ctx, p.text())})
	for len(w.queue) > 0 && (w.queue[0].answer == nil || len(w.queue) > w.router.Ahead()) {
		if err := w.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *waiting) flush(ctx context.Context) error {
	for len(w.queue) > 0 {
		if err := w.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *waiting) next(ctx context.Context) error {
	q := w.queue[0]
	w.queue = append(w.queue[:0], w.queue[1:]...)
	if q.answer != nil {
		a, err := q.answer()
		if err != nil {
			return err
		}
		if q.page.answer = a; a.Drop {
			q.page.words = nil
		}
	}
	return w.arrived(ctx, q.page)
}

// countChars counts the characters of a word as poppler prints it, and those of them that are not text.
func countChars(s string) (chars, garbage int) {
	for _, r := range s {
		chars++
		switch {
		case r == unicode.ReplacementChar:
			garbage++
		case unicode.IsControl(r), unicode.Is(unicode.Co, r) && privateBullets[r] == 0:
			garbage++
		}
	}
	return chars, garbage
}
