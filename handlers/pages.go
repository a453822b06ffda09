package handlers

import "fmt"

// PageProgress reports the progress of a document whose pages arrive in order.
type PageProgress struct {
	progress    Progress
	last, total int
}

// NewPageProgress returns a PageProgress that reports to p.
func NewPageProgress(p Progress) *PageProgress { return &PageProgress{progress: p} }

// Total sets the number of pages, once it is known.
func (p *PageProgress) Total(pages int) {
	p.total = pages
	p.progress.Pages(max(p.last-1, 0), p.total)
}

// Page reports that a part of a page has arrived: the pages before it are done.
func (p *PageProgress) Page(number int) {
	if number <= p.last {
		return
	}
	p.last = number
	p.progress.Pages(number-1, p.total)
	p.progress.Report(pageFraction(number, p.total), fmt.Sprintf("page %d", number))
}

// End reports that all pages are done; 0: the format has none.
func (p *PageProgress) End(pages int) {
	if pages > 0 {
		p.progress.Pages(pages, pages)
	}
}

// pageFraction returns the fraction that is done when a page arrives. While the number of pages is unknown, it advances
// by half of the rest every 20 pages.
func pageFraction(page, total int) float64 {
	if total >= page {
		return float64(page-1) / float64(total)
	}
	return 1 - 1/(1+float64(page)/20)
}
