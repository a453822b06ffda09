package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// resultWidth is the width of a result's text, in columns.
const resultWidth = 100

// summary is the part of a summarize task's result that is printed. The rest is in -o json.
type summary struct {
	Summary    string `json:"summary"`
	Model      string `json:"model"`
	Prompt     int    `json:"prompt_tokens"`
	Completion int    `json:"completion_tokens"`
	KeyPoints  []struct {
		Text       string  `json:"text"`
		Pages      []int   `json:"pages"`
		Unverified []claim `json:"unverified"`
	} `json:"key_points"`
	Unverified []claim `json:"unverified"`
	LeftOut    []struct {
		Heading string `json:"heading"`
		Pages   []int  `json:"pages"`
		Reason  string `json:"reason"`
	} `json:"left_out"`
	Warnings []string `json:"warnings"`
}

type claim struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// readSummary reads a summarize job's result.
func readSummary(j store.Job) (s summary, ok bool) {
	return s, j.Type == string(task.Summarize) && json.Unmarshal(j.Result, &s) == nil && s.Summary != ""
}

// shortResult is a result on one line: JSON, or a pointer to what printResult prints.
func shortResult(j store.Job) string {
	if s, ok := readSummary(j); ok {
		return fmt.Sprintf("a summary by %s, %d + %d tokens; all of it: -o json", s.Model, s.Prompt, s.Completion)
	}
	if answerOf(j) != nil {
		return "an answer, below; all of it: -o json"
	}
	return compactJSON(j.Result)
}

// printResult prints a result's text, if it has one.
func printResult(w io.Writer, j store.Job) error {
	s, ok := readSummary(j)
	if !ok {
		return printAnswer(w, j)
	}
	var b strings.Builder
	b.WriteString("\nSUMMARY\n")
	paragraph(&b, "", s.Summary)
	marks(&b, s.Unverified)
	if len(s.KeyPoints) > 0 {
		b.WriteString("\nKEY POINTS\n")
	}
	for _, p := range s.KeyPoints {
		paragraph(&b, "- ", p.Text+onPages(p.Pages))
		marks(&b, p.Unverified)
	}
	for _, l := range s.LeftOut {
		paragraph(&b, "! ", "left out"+onPages(l.Pages)+": "+strings.TrimSpace(l.Heading+" — "+l.Reason))
	}
	for _, text := range s.Warnings {
		paragraph(&b, "! ", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// marks lists claims that are not in the cited text.
func marks(b *strings.Builder, claims []claim) {
	for _, c := range claims {
		paragraph(b, "! ", fmt.Sprintf("the %s “%s” is not in the cited text", c.Kind, c.Text))
	}
}

func onPages(pages []int) string {
	if len(pages) == 0 {
		return ""
	}
	return " (page " + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(pages), "[]")), ", ") + ")"
}

// paragraph wraps a text at resultWidth; following lines are indented by the mark's width.
func paragraph(b *strings.Builder, mark, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		at := 0
		for word := range strings.FieldsSeq(line) {
			word = printable(word)
			switch n := runewidth.StringWidth(word); {
			case at == 0:
				b.WriteString("  " + mark + word)
				at = 2 + len(mark) + n
			case at+1+n > resultWidth:
				b.WriteString("\n  " + strings.Repeat(" ", len(mark)) + word)
				at = 2 + len(mark) + n
			default:
				b.WriteString(" " + word)
				at += 1 + n
			}
		}
		b.WriteByte('\n')
	}
}
