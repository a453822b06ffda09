package extract

import (
	"slices"
	"strconv"
	"strings"
)

// PageMethod is the way in which a page's text was read.
type PageMethod string

// The ways to read a page.
const (
	PageNative PageMethod = "native" // the file's own text
	PageOCR    PageMethod = "ocr"    // the text from OCR; the file's own text, if any, is dropped
	PageMixed  PageMethod = "mixed"  // the file's own text, and text from OCR beside it
	PageEmpty  PageMethod = "empty"  // nothing to read on the page
	PageUnread PageMethod = "unread" // OCR was needed and failed, or is not available
)

// PageDecision describes how consecutive pages were read, and the reason.
type PageDecision struct {
	First      int        `json:"first"` // from 1
	Last       int        `json:"last"`
	Method     PageMethod `json:"method"`
	Confidence float64    `json:"confidence"` // 0-1, two digits: that the text is what a reader sees on the page
	Reason     string     `json:"reason"`     // for example "no text"; written by the program, never from the document
}

// AppendPage appends the decision on the next page to the log and merges it with an equal one.
func AppendPage(log []PageDecision, page int, d PageDecision) []PageDecision {
	d.First, d.Last = page, page
	if n := len(log); n > 0 {
		last := log[n-1]
		if last.Last == page-1 && last.Method == d.Method && last.Confidence == d.Confidence &&
			last.Reason == d.Reason {
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

// maxRanges is the longest list of pages, in bytes.
const maxRanges = 200

// PageRanges formats ascending numbers, for example "3-7,12". A long list is truncated with "…".
func PageRanges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > maxRanges {
			b.WriteRune('…')
			break
		}
		b.WriteString(strconv.Itoa(numbers[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(numbers[j]))
		}
		i = j + 1
	}
	return b.String()
}
