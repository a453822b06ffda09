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

// eventText is an event's message and its piece of streamed text.
func eventText(e store.JobEvent) string {
	d, ok := e.Delta()
	if !ok {
		return e.Message
	}
	text := "» " + d.Piece
	if d.Restart {
		text = "» (restarted) " + d.Piece
	}
	if e.Message != "" {
		text = e.Message + " " + text
	}
	return text
}

// update returns a bar's text after an event: stage and message, or the tail of a streamed text.
func (b *bar) update(e store.JobEvent) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d, ok := e.Delta(); ok {
		if d.Restart {
			b.streamed = ""
		}
		b.streamed += d.Piece
	}
	if b.streamed != "" && e.Message == "" {
		const tail = 60
		line := strings.Join(strings.Fields(b.streamed), " ")
		if over := runewidth.StringWidth(line) - tail; over > 0 {
			return runewidth.TruncateLeft(line, over, "…")
		}
		return line
	}
	if e.Message != "" {
		return e.Stage + ": " + e.Message
	}
	return e.Stage
}

// printAnswer prints a job's answer, if it has one.
func printAnswer(w io.Writer, j store.Job) error {
	lines := answerOf(j)
	if lines == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("\nANSWER")
	for _, line := range lines {
		printIndented(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// answerOf returns the lines of a job's answer and citations; nil: the job has no answer.
func answerOf(j store.Job) (all []string) {
	var result struct {
		Answer    json.RawMessage `json:"answer"`
		Citations []struct {
			Filename string `json:"filename"`
			Page     *int   `json:"page"`
			Quote    string `json:"quote"`
		} `json:"citations"`
		Warnings []string `json:"warnings"`
	}
	if t := task.Type(j.Type); t != task.Agent && t != task.AI {
		return nil
	}
	if len(j.Result) == 0 || json.Unmarshal(j.Result, &result) != nil || len(result.Answer) == 0 {
		return nil
	}
	var text string
	if json.Unmarshal(result.Answer, &text) != nil {
		text = string(result.Answer)
	}
	all = append(all, "")
	for line := range strings.SplitSeq(text, "\n") {
		all = append(all, strings.TrimRight("  "+printable(line), " "))
	}
	for i, c := range result.Citations {
		place := c.Filename
		if c.Page != nil {
			place += fmt.Sprintf(", page %d", *c.Page)
		}
		line, quote := fmt.Sprintf("  [%d] %s", i+1, place), strings.Join(strings.Fields(c.Quote), " ")
		if !strings.Contains(strings.Join(strings.Fields(text), " "), quote) { // else the answer is a quotation
			line += fmt.Sprintf(": “%s”", shorten(quote, 160))
		}
		all = append(all, printable(line))
	}
	for _, w := range result.Warnings {
		all = append(all, printable("  warning: "+w))
	}
	return all
}
