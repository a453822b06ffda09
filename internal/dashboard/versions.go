package dashboard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// mostReadings bounds how many ranges of pages are listed with how they were read.
const mostReadings = 150

// versionView is a version of a document as its page shows it.
type versionView struct {
	store.DocumentVersion
	Warnings []string
	New      []place // chunks that the version added; of the active version alone
}

// place is a range of chunks with its address.
type place struct {
	Text, URL string
}

// readingView is how the pages of the active version were read.
type readingView struct {
	Ways  []readWay
	Pages []store.PageReading // those that are not plainly the file's own text, at most mostReadings
	More  int                 // that are not listed
}

// readWay is a way to read pages, with how many were.
type readWay struct {
	Method, Text string
	Pages        int
}

// readWays are the ways in the order in which they are counted, and in words.
var readWays = []readWay{
	{Method: "native", Text: "from the file"},
	{Method: "ocr", Text: "by OCR"},
	{Method: "mixed", Text: "from the file and by OCR"},
	{Method: "empty", Text: "without anything to read"},
	{Method: "unread", Text: "could not be read"},
}

// readBy is a way to read pages in words.
func readBy(method string) string {
	for _, w := range readWays {
		if w.Method == method {
			return w.Text
		}
	}
	return words(method)
}

func versionsOf(all []store.DocumentVersion, at func(position int) string) (views []versionView, read readingView) {
	for _, one := range all {
		v := versionView{DocumentVersion: one}
		_ = json.Unmarshal(one.Warnings, &v.Warnings) // what is no list of texts is not shown
		if one.Status == "active" {
			read = readingOf(one.PageLog)
			if one.Changes != nil && !one.Reread {
				for _, r := range one.Changes.At[:min(len(one.Changes.At), 12)] {
					v.New = append(v.New, place{spanText(r[0], r[1]), at(r[0])})
				}
			}
		}
		views = append(views, v)
	}
	return views, read
}

// added reports whether the active version added a chunk.
func added(all []store.DocumentVersion, position int) bool {
	return slices.ContainsFunc(all, func(v store.DocumentVersion) bool {
		return v.Status == "active" && v.Changes != nil && !v.Reread && slices.ContainsFunc(v.Changes.At, func(r [2]int) bool {
			return r[0] <= position && position <= r[1]
		})
	})
}

func spanText(first, last int) string {
	if first == last {
		return number(first)
	}
	return number(first) + "–" + number(last)
}

func readingOf(log []store.PageReading) (v readingView) {
	counts := map[string]int{}
	for _, r := range log {
		counts[r.Method] += r.Last - r.First + 1
		switch {
		case r.Method == "native" && r.Reason == "":
		case len(v.Pages) == mostReadings:
			v.More += r.Last - r.First + 1
		default:
			v.Pages = append(v.Pages, r)
		}
	}
	for _, w := range readWays {
		if w.Pages = counts[w.Method]; w.Pages > 0 {
			v.Ways = append(v.Ways, w)
		}
	}
	return v
}

// readingAt is how a page was read; nil: it is not known.
func readingAt(all []store.DocumentVersion, page int) *store.PageReading {
	for _, v := range all {
		if v.Status != "active" {
			continue
		}
		for _, r := range v.PageLog {
			if r.First <= page && page <= r.Last {
				return &r
			}
		}
	}
	return nil
}

// sure is a confidence from 0 to 1 in words.
func sure(confidence float64) string {
	return fmt.Sprintf("%.0f %%", 100*confidence)
}

// sentence is the worker's own phrase as the begin of a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
