package handlers

import "fmt"

// PageProgress reports a document whose pages come one after the other.
type PageProgress struct {
	progress    Progress
	last, total int
}

// NewPageProgress reports to p.
func NewPageProgress(p Progress) *PageProgress { return &PageProgress{progress: p} }

// Total is how many pages there are, once that is known.
func (p *PageProgress) Total(pages int) {
	p.total = pages
	p.progress.Pages(max(p.last-1, 0), p.total)
}

// Page is that something of a page has come; what was before it is done.
func (p *PageProgress) Page(number int) {
	if number <= p.last {
		return
	}
	p.last = number
	p.progress.Pages(number-1, p.total)
	p.progress.Report(pageFraction(number, p.total), fmt.Sprintf("page %d", number))
}

// End is that all pages are done; 0: the format has none.
func (p *PageProgress) End(pages int) {
	if pages > 0 {
		p.progress.Pages(pages, pages)
	}
}

// pageFraction is how much is done when a page has come. While their number is not known it moves on with every page:
// half of what remains every 20 pages.
func pageFraction(page, total int) float64 {
	if total >= page {
		return float64(page-1) / float64(total)
	}
	return 1 - 1/(1+float64(page)/20)
}
