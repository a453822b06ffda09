package dashboard

import (
	"net/http"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// chunksOfPage bounds the chunks that are shown beside a page's picture.
const chunksOfPage = 200

// sheet is a page of a document beside the chunks that are on it.
type sheet struct {
	Document       store.DocumentOutline
	Page           int
	Chunks         []store.Passage
	Boxes          []placed
	Read           *store.PageReading // how the page was read; nil: it is not known
	Previous, Next int                // pages; 0: there is none
}

// placed is a box of a chunk in the picture, in thousandths of its width and height.
type placed struct {
	X, Y, Width, Height float64
	Position            int // of the chunk
	Marked              bool
}

// pageOf is the page that a request names; 0: none.
func pageOf(r *http.Request) int {
	n, err := strconv.Atoi(r.PathValue("page"))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// sheet shows a page of a document. With chunk, a position, that chunk is marked.
func (p *page) sheet() error {
	ctx, cancel := p.ctx()
	defer cancel()
	d, err := p.by.Document(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	s := sheet{Document: d, Page: pageOf(p.r)}
	if s.Page == 0 || s.Page > d.Pages {
		return errNoPage
	}
	reader := p.by.Reader(ctx)
	var versions []store.DocumentVersion
	var g errgroup.Group
	g.Go(func() (err error) { versions, err = reader.DocumentVersions(ctx, d.DocumentID); return err })
	g.Go(func() (err error) {
		s.Chunks, err = reader.DocumentPassages(ctx, store.DocumentPassageQuery{
			DocumentID: d.DocumentID, Page: s.Page, Limit: chunksOfPage,
		})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	s.Read = readingAt(versions, s.Page)
	s.Chunks = slices.DeleteFunc(s.Chunks, func(c store.Passage) bool { return !slices.Contains(c.Pages, s.Page) })
	marked, err := strconv.Atoi(p.r.URL.Query().Get("chunk"))
	if err != nil {
		marked = -1
	}
	for _, c := range s.Chunks {
		for _, b := range c.Boxes {
			if b.Page == s.Page {
				s.Boxes = append(s.Boxes, placed{
					1000 * b.Left, 1000 * b.Top, 1000 * (b.Right - b.Left), 1000 * (b.Bottom - b.Top), c.Position, c.Position == marked,
				})
			}
		}
	}
	if s.Page > 1 {
		s.Previous = s.Page - 1
	}
	if s.Page < d.Pages {
		s.Next = s.Page + 1
	}
	return p.show("sheet", d.Filename+", page "+strconv.Itoa(s.Page), "documents", s)
}

// picture answers with the picture of a page.
func (p *page) picture() error {
	drawn, err := p.by.Picture(p.r.Context(), p.r.PathValue("id"), pageOf(p.r), p.r.Header.Get("If-None-Match"))
	if err != nil {
		return err
	}
	h := p.w.Header()
	h.Set("Content-Type", drawn.ContentType)
	h.Set("ETag", drawn.ETag)
	h.Set("Cache-Control", drawn.CacheControl)
	if drawn.Status != 0 {
		p.w.WriteHeader(drawn.Status)
		return nil
	}
	_, _ = p.w.Write(drawn.Body) // an error means that the client is gone
	return nil
}
