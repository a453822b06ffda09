package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Limits of the summary that is shown.
const (
	summaryDocument = "harbour-handbook.pdf"
	summaryWords    = 60 // words
	maxKeyPoints    = 3
	lineWidth       = 100
)

// summary is the part of a result that the tour shows.
type summary struct {
	Summary    string `json:"summary"`
	Model      string `json:"model"`
	Extractive bool   `json:"extractive"`
	Parts      int    `json:"parts"`
	Prompt     int    `json:"prompt_tokens"`
	Completion int    `json:"completion_tokens"`
	KeyPoints  []struct {
		Text  string `json:"text"`
		Pages []int  `json:"pages"`
	} `json:"key_points"`
}

// summarize summarizes one of the samples.
func (d *dev) summarize(ctx context.Context, t *app.Tenant, stamp string) error {
	d.out.section(fmt.Sprintf("A summary of %s, in at most %d words", summaryDocument, summaryWords))
	payload, err := json.Marshal(map[string]any{
		"filename": summaryDocument, "blob": "samples/" + summaryDocument, "max_words": summaryWords,
	})
	if err != nil {
		return err
	}
	id := "summary-" + stamp
	if _, err := t.Enqueue(ctx, task.Task{
		ID: id, Type: task.Summarize, Payload: payload, WebhookURL: d.receiver.URL, Priority: task.PriorityNormal,
		ClientID: clientID, RequestedBy: "dev",
	}); err != nil {
		return fmt.Errorf("send a summarize task: %w", err)
	}
	if err := d.follow(ctx, t.Store, id); err != nil { // a model may take its time
		return fmt.Errorf("summarize a sample (the worker's log is %s): %w", d.home.rel(d.home.logPath("worker")), err)
	}
	got, err := d.webhook(ctx, id)
	if err != nil {
		return err
	}
	var s summary
	if err := decodeResult(got, &s); err != nil || got.Type != "task.completed" || s.Summary == "" {
		return fmt.Errorf("the webhook of the summarize task is %s (the worker's log is %s)", got.Type,
			d.home.rel(d.home.logPath("worker")))
	}
	if len(s.KeyPoints) == 0 || len(s.KeyPoints[0].Pages) == 0 {
		return errors.New("the summary cites no pages")
	}
	d.showSummary(s)
	return nil
}

func (d *dev) showSummary(s summary) {
	made := fmt.Sprintf("by %s, %d + %d tokens", s.Model, s.Prompt, s.Completion)
	if s.Extractive {
		made = "by " + s.Model + ", without a model: sentences of the document"
	}
	d.out.done("summary", made)
	if !s.Extractive { // else the key points are the same sentences, with their pages
		for _, line := range wrap(s.Summary, lineWidth) {
			d.out.line("    %s", line)
		}
	}
	for _, p := range s.KeyPoints[:min(len(s.KeyPoints), maxKeyPoints)] {
		on := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(p.Pages)), ", "), "[]")
		for i, line := range wrap(fmt.Sprintf("%s (page %s)", p.Text, on), lineWidth) {
			d.out.line("    %s %s", [...]string{"·", " "}[min(i, 1)], line)
		}
	}
}

// wrap breaks a model's text into lines of at most width columns, without control characters.
func wrap(text string, width int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		word = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, word)
		if n := len(lines); n > 0 && runewidth.StringWidth(lines[n-1])+1+runewidth.StringWidth(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
