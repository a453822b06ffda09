package cli

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Markup of Markdown that says nothing in a snippet, which is one line of prose.
var (
	heading   = regexp.MustCompile(`^#{1,6}\s+`)
	tableRule = regexp.MustCompile(`^\|?\s*:?-{3,}[\s:|-]*$`)
	emphasis  = regexp.MustCompile(`\*\*(\S(?:.*?\S)?)\*\*`)
)

// snippetOf is a chunk's text on one line, without the Markdown of headings, tables and emphasis.
func snippetOf(markdown string) string {
	var words []string
	for line := range strings.SplitSeq(markdown, "\n") {
		line = strings.TrimSpace(line)
		if tableRule.MatchString(line) {
			continue
		}
		if strings.HasPrefix(line, "|") {
			line = strings.ReplaceAll(strings.Trim(line, "|"), "|", " ")
		}
		line = emphasis.ReplaceAllString(heading.ReplaceAllString(line, ""), "$1")
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

// nothingFound is what a search without hits prints.
const nothingFound = "Nothing found. async-worker jobs list --type ingest shows what was ingested."

// PrintHits prints the hits of a search, one after the other.
func PrintHits(w io.Writer, hits []search.Hit) error {
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, nothingFound)
		return err
	}
	if !slices.ContainsFunc(hits, func(h search.Hit) bool { return h.Matched }) {
		const head = "No document contains a word of the query. These are the nearest by meaning:"
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
	}
	for i, h := range hits {
		place := []string{h.Filename}
		if len(h.Pages) > 0 {
			place = append(place, pages(h.Pages))
		}
		if len(h.HeadingPath) > 0 {
			place = append(place, strings.Join(h.HeadingPath, " › "))
		}
		how := ""
		if !h.Matched {
			how = ", by meaning only"
		}
		_, err := fmt.Fprintf(w, "%d. %s\n   score %.4f, similarity %.2f%s, set %s, version %d, chunk %s\n",
			i+1, printable(strings.Join(place, " · ")), h.Score, h.Similarity, how, printable(h.DocumentSet), h.Version,
			h.ChunkID)
		if err != nil {
			return err
		}
		for _, p := range h.Before {
			printWrapped(w, "   ", printable("↑ "+shorten(snippetOf(p.Content), 300)))
		}
		printWrapped(w, "   ", printable(shorten(snippetOf(h.Content), 300)))
		for _, p := range h.After {
			printWrapped(w, "   ", printable("↓ "+shorten(snippetOf(p.Content), 300)))
		}
		if len(h.AlsoIn) > 0 {
			printWrapped(w, "   ", printable("also in "+alsoIn(h)))
		}
	}
	return nil
}

// pages is "page 3" or "pages 3-5"; a chunk's pages are adjacent.
func pages(ps []int) string {
	if len(ps) == 1 {
		return fmt.Sprintf("page %d", ps[0])
	}
	return fmt.Sprintf("pages %d-%d", ps[0], ps[len(ps)-1])
}

// alsoIn names the documents that have a hit's text, too, each with its set if that is another one.
func alsoIn(h search.Hit) string {
	var names []string
	for _, c := range h.AlsoIn {
		name := c.Filename
		if c.DocumentSet != h.DocumentSet {
			name += " (set " + c.DocumentSet + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// printExplained prints why hits are in their places, one to a line.
func printExplained(w io.Writer, hits []search.Hit) error {
	var rows [][]string
	for i, h := range hits {
		page := ""
		if len(h.Pages) > 0 {
			page = fmt.Sprint(h.Pages[0])
		}
		words, meaning, pieces, pairs, before, rate, method := "", "", "", "", "", "", ""
		if y := h.Why; y != nil {
			before, rate = fmt.Sprintf("%d. %.4f", y.Place, y.StoreScore), number(y.Rate)
			if l := y.Legs; l != nil {
				words, meaning, pieces, pairs, method = placed(l.Words), placed(l.Meaning), number(l.Pieces), number(l.Pairs), l.Method
			}
		}
		rows = append(rows, []string{
			fmt.Sprintf("%d.", i+1), fmt.Sprintf("%.4f", h.Score), words, meaning, pieces, pairs, method, before, rate,
			shorten(h.Filename, 30), page,
		})
	}
	header := []string{"", "SCORE", "WORDS", "MEANING", "PIECES", "PAIRS", "METHOD", "STORE", "RE-RANKED", "FILE", "PAGE"}
	if err := table(w, header, rows); err != nil {
		return err
	}
	return printWeights(w, hits[0].Why)
}

// printWeights prints what the legs count, under a table of hits.
func printWeights(w io.Writer, y *search.Why) error {
	if y == nil || y.Legs == nil {
		return nil
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(y.Legs.Weights)) {
		parts = append(parts, fmt.Sprintf("%s %g", name, y.Legs.Weights[name]))
	}
	line := "weights: " + strings.Join(parts, ", ")
	if y.Legs.Known != nil {
		line += fmt.Sprintf("; known %.2f", *y.Legs.Known)
	}
	if m := y.Legs.Meaning; m != nil && m.Base != nil {
		line += fmt.Sprintf("; base of meaning %.2f", *m.Base)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// placed is a place in a leg and the score there.
func placed(l *store.Leg) string {
	switch {
	case l == nil:
		return "-"
	case l.Place == 0:
		return fmt.Sprintf("-  %.2f", l.Score)
	}
	return fmt.Sprintf("%d. %.2f", l.Place, l.Score)
}

func number(n *float64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *n)
}
