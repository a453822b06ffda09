package extract

import "slices"

// PageMethod is how a page's text came about.
type PageMethod string

// The ways to read a page.
const (
	PageNative PageMethod = "native" // the file's own text
	PageOCR    PageMethod = "ocr"    // what OCR read; the file's own text, if any, is left out
	PageMixed  PageMethod = "mixed"  // the file's own text, and what OCR read beside it
	PageEmpty  PageMethod = "empty"  // there is nothing to read on it
	PageUnread PageMethod = "unread" // OCR was needed and did not work, or is not there
)

// PageDecision says how pages that follow each other were read, and why.
type PageDecision struct {
	First      int        `json:"first"` // from 1
	Last       int        `json:"last"`
	Method     PageMethod `json:"method"`
	Confidence float64    `json:"confidence"` // 0-1, two digits: that the text is what a reader sees on the page
	Reason     string     `json:"reason"`     // e.g. "no text"; of the program, never of the document
}

// AppendPage adds the decision on the next page to those before; equal ones become one.
func AppendPage(log []PageDecision, page int, d PageDecision) []PageDecision {
	d.First, d.Last = page, page
	if n := len(log); n > 0 {
		last := log[n-1]
		if last.Last == page-1 && last.Method == d.Method && last.Confidence == d.Confidence && last.Reason == d.Reason {
			log[n-1].Last = page
			return log
		}
	}
	return append(log, d)
}

// CountPages counts the pages that were read in one of the ways.
func CountPages(log []PageDecision, methods ...PageMethod) int {
	n := 0
	for _, d := range log {
		if slices.Contains(methods, d.Method) {
			n += d.Last - d.First + 1
		}
	}
	return n
}
