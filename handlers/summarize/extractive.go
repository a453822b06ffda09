package summarize

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/enrich"
)

// The number of sentences of each section among which the summary is chosen.
const sentencesPerSection = 8

// longestSentence is in words: anything longer is likely a table or a list without full stops.
const longestSentence = 60

// candidate is a sentence that may become part of the summary.
type candidate struct {
	text    string
	passage int
}

// extract makes a summary of the document's sentences, without a model: it chooses the most representative ones of each
// section, and then of these.
func (w *work) extract(ctx context.Context) (Result, error) {
	if err := w.call.Progress.Stage(stageSummarizing); err != nil {
		return Result{}, err
	}
	row := make([]seam, len(w.doc.passages))
	for i, p := range w.doc.passages {
		row[i] = seam{p.tokens, p.bond, p.opening}
	}
	begins := append(sections(row, sectionTokens), len(row))
	var found []candidate
	for i := range len(begins) - 1 {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		of := w.candidates(begins[i], begins[i+1])
		if len(begins) > 2 {
			of = w.choose(of, sentencesPerSection, 0)
		}
		found = append(found, of...)
		w.call.Progress.Report(float64(i+1)/float64(len(begins)), fmt.Sprintf("%d of %d sections", i+1, len(begins)-1))
	}
	r := w.blank()
	if len(found) == 0 {
		found = w.lines()
		r.Warnings = append(r.Warnings, "the document has no sentences: the summary is some of its lines")
	}
	r.Model, r.Extractive, r.Parts = w.deps.Extracts.Model(), true, len(begins)-1
	chosen := w.choose(found, 0, w.order().words)
	r.Summary = w.join(chosen, begins)
	var cited []int
	for _, c := range chosen {
		cited = append(cited, c.passage)
	}
	for _, c := range w.choose(found, w.payload.Style.points(), 0) {
		r.KeyPoints = append(r.KeyPoints, w.keyPoint(c.text, []int{c.passage}))
		cited = append(cited, c.passage)
	}
	w.settle(&r)
	r.Unverified = w.unverified(r.Summary, cited)
	if want := w.payload.Language; want != "" && w.doc.language != enrich.Unknown &&
		!sameLanguage(want, w.doc.language) {
		r.Language = w.doc.language
	}
	return r, nil
}

// usual reports whether a sentence has a usual length.
func usual(s string) bool { n := words(s); return n >= 5 && n <= longestSentence }

// candidates returns the sentences of passages, without headings, tables and code.
func (w *work) candidates(first, end int) []candidate {
	var all []candidate
	for i := first; i < end; i++ {
		var prose []string
		fenced := false
		for line := range strings.SplitSeq(w.doc.passages[i].text, "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if !fenced && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "|") && headingLevel(line) == 0 {
				if bullet.MatchString(line) { // each item is a sentence
					line = "\n" + bullet.ReplaceAllString(line, "") + "\n"
				}
				prose = append(prose, line)
			}
		}
		for _, s := range w.deps.Extracts.Sentences(strings.Join(prose, "\n")) {
			if s = strings.Join(strings.Fields(s), " "); usual(s) {
				all = append(all, candidate{s, i})
			}
		}
	}
	return all
}

// mostLines is how many lines of a document without sentences are used.
const mostLines = 200

// lines returns the first lines of a document of tables and headings, as text.
func (w *work) lines() []candidate {
	var all []candidate
	for i, p := range w.doc.passages {
		for line := range strings.SplitSeq(p.text, "\n") {
			line = strings.Join(strings.FieldsFunc(strings.TrimLeft(line, "# "), func(r rune) bool { return r == '|' }),
				";")
			if line = strings.Trim(strings.Join(strings.Fields(line), " "), "; "); words(line) == 0 {
				continue
			}
			if all = append(all, candidate{strings.ReplaceAll(line, " ;", ";"), i}); len(all) == mostLines {
				return all
			}
		}
	}
	return all
}

func (w *work) choose(of []candidate, most, words int) []candidate {
	texts := make([]string, len(of))
	for i, c := range of {
		texts[i] = c.text
	}
	var chosen []candidate
	for _, i := range w.deps.Extracts.Choose(texts, most, words) {
		chosen = append(chosen, of[i])
	}
	return chosen
}

// join joins sentences by style: in one paragraph, in one for each section, or in a list.
func (w *work) join(chosen []candidate, begins []int) string {
	var b strings.Builder
	section := -1
	for i, c := range chosen {
		at, _ := slices.BinarySearch(begins, c.passage+1)
		switch {
		case i == 0:
		case w.payload.Style == Bullets:
			b.WriteByte('\n')
		case w.payload.Style == Detailed && at != section:
			b.WriteString("\n\n")
		default:
			b.WriteByte(' ')
		}
		if w.payload.Style == Bullets {
			b.WriteString("- ")
		}
		b.WriteString(c.text)
		section = at
	}
	return b.String()
}
