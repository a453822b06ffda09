package pdf

import (
	"context"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// Router decides for every page, after it was read and before it is laid out, whether the file's words are what
// a reader sees on the page.
type Router interface {
	// Route is called for the pages in order. It returns a function that is called for the answer when the page
	// is laid out. Until then up to Ahead other pages are routed. A nil function takes the page as it is. The
	// answer's error ends the extraction.
	Route(ctx context.Context, p PageText) func() (Answer, error)
	// Ahead is how many pages may wait for their answers.
	Ahead() int
}

// PageText is the file's text of a page.
type PageText struct {
	Number        int
	Width, Height float64 // points, as shown; zero: poppler could not read the page
	Words         []Word
	Chars         int // characters of its text as it is in the file
	Garbage       int // of those: replacement characters, controls, private code points that are not bullets
	// Layer reports that an image covers the page and that its words are an invisible layer over it, as
	// scanning programs make it. Other invisible words are not part of a page.
	Layer     bool
	Invisible int // words that were omitted because they are invisible
	// Pictures is the fraction of the page that images cover, 0-1; zero also where that is not known.
	Pictures float64
}

// Word is a word and its position on the page.
type Word struct {
	Text string
	Box  extract.Box
}

// Answer is the decision about a page.
type Answer struct {
	Drop   bool            // its own words are not used
	Read   *Reading        // used instead of its own words, and laid out as those are; nil: none
	Whole  bool            // all words are used, also those that look like a running header or footer
	Blocks []extract.Block // added to the page
	First  bool            // Blocks come before the page's own blocks instead of after
}

// text returns the page for a Router.
func (p *page) text() PageText {
	t := PageText{
		Number: p.number, Width: p.width, Height: p.height, Chars: p.chars, Garbage: p.garbage,
		Layer: p.layer, Invisible: p.invisible, Pictures: p.pictures, Words: make([]Word, len(p.words)),
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

// routeQueue holds the pages that wait for their answers.
type routeQueue struct {
	router  Router
	queue   []routedPage
	deliver func(context.Context, *page) error
}

type routedPage struct {
	page   *page
	answer func() (Answer, error)
}

// add routes the next page and passes on the pages that are answered.
func (w *routeQueue) add(ctx context.Context, p *page) error {
	if w.router == nil {
		return w.deliver(ctx, p)
	}
	w.queue = append(w.queue, routedPage{p, w.router.Route(ctx, p.text())})
	for len(w.queue) > 0 && (w.queue[0].answer == nil || len(w.queue) > w.router.Ahead()) {
		if err := w.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *routeQueue) flush(ctx context.Context) error {
	for len(w.queue) > 0 {
		if err := w.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *routeQueue) next(ctx context.Context) error {
	q := w.queue[0]
	w.queue = append(w.queue[:0], w.queue[1:]...)
	if q.answer != nil {
		a, err := q.answer()
		if err != nil {
			return err
		}
		switch q.page.answer = a; {
		case a.Read != nil:
			q.page.read(*a.Read)
		case a.Drop:
			q.page.words = nil
		}
	}
	return w.deliver(ctx, q.page)
}

// countChars counts the characters of a word as poppler prints it, and those that are not text.
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
