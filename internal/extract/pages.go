package extract

import (
	"slices"
	"strconv"
	"strings"
)

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

// PageRanges writes ascending numbers as e.g. "3-7,12"; very many are cut short with "…".
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
