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

// delta is a piece of a text that a job is getting, as an event tells it.
type delta struct {
	Piece   string `json:"delta"`
	Restart bool   `json:"restart"` // what came before it is void
}

func deltaOf(e store.JobEvent) (d delta, ok bool) {
	if len(e.Metadata) == 0 || json.Unmarshal(e.Metadata, &d) != nil {
		return delta{}, false
	}
	return d, d.Piece != "" || d.Restart
}

// eventText is what an event says: its message, and a piece of a text.
func eventText(e store.JobEvent) string {
	d, ok := deltaOf(e)
	if !ok {
		return e.Message
	}
	text := "» " + d.Piece
	if d.Restart {
		text = "» (anew) " + d.Piece
	}
	if e.Message != "" {
		text = e.Message + " " + text
	}
	return text
}

// update is what a bar says after an event: the stage and message, or the end of a text that is coming.
func (b *bar) update(e store.JobEvent) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d, ok := deltaOf(e); ok {
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

// printAnswer prints the answer of a job, if it has one.
func printAnswer(w io.Writer, j store.Job) error {
	lines := answerOf(j)
	if lines == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nANSWER%s\n", strings.Join(lines, "\n"))
	return err
}

// answerOf are the lines of a job's answer and what it rests on; of any other job there are none.
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
		all = append(all, printable(fmt.Sprintf("  [%d] %s: “%s”", i+1, place,
			shorten(strings.Join(strings.Fields(c.Quote), " "), 160))))
	}
	for _, w := range result.Warnings {
		all = append(all, printable("  warning: "+w))
	}
	return all
}
