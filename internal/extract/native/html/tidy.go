package html

import (
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// line is a line of a text before and after tidy.
type line struct{ start, end, at int }

// tidy trims the spaces around line ends from br elements, and drops empty lines. Links stay at their words.
func tidy(text string, links []extract.Link) (string, []extract.Link) {
	if !strings.Contains(text, "\n") {
		return text, links
	}
	var b strings.Builder
	var lines []line
	start := 0
	for whole := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(whole)
		if trimmed != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			from := start + strings.Index(whole, trimmed)
			lines = append(lines, line{from, from + len(trimmed), b.Len()})
			b.WriteString(trimmed)
		}
		start += len(whole) + 1
	}
	return b.String(), moved(links, lines)
}

// moved returns the links of a text for its remaining lines.
func moved(links []extract.Link, lines []line) []extract.Link {
	var kept []extract.Link
	first := 0 // the first line that may hold the link: links come in order
	for _, l := range links {
		for first < len(lines) && lines[first].end <= l.Start {
			first++
		}
		if first == len(lines) {
			break
		}
		last := first
		for last+1 < len(lines) && lines[last+1].start < l.End {
			last++
		}
		begin, end := lines[first], lines[last]
		start := begin.at + max(l.Start-begin.start, 0)
		stop := end.at + min(l.End, end.end) - end.start
		if start < stop {
			kept = append(kept, extract.Link{Start: start, End: stop, Target: l.Target})
		}
	}
	return kept
}
