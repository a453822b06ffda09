package devstack

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// deckSample is the sample that becomes a deck.
const deckSample = "harbour-handbook.pdf"

// deckResult is the part of the results of convert and export that the tour shows.
type deckResult struct {
	DeckID      string    `json:"deck_id"`
	ResultPath  string    `json:"result_path"`
	PreviewPath string    `json:"preview_path"`
	Slides      int       `json:"slides"`
	Bytes       int64     `json:"bytes"`
	URL         string    `json:"url"`
	Expires     time.Time `json:"url_expires_at"`
	Warnings    []string  `json:"warnings"`
}

// makeDeck converts a sample to a deck, and exports that as PPTX and PDF.
func (d *dev) makeDeck(ctx context.Context, t *app.Tenant, stamp string) error {
	d.out.section("Slides of " + deckSample + ": converted to a deck, exported as PPTX and PDF")
	made, err := d.deckTask(ctx, t, "deck-"+stamp, task.Convert, map[string]string{
		"filename": deckSample, "blob": "samples/" + deckSample,
	})
	if err != nil {
		return err
	}
	d.out.done("deck", fmt.Sprintf("%s in the blob %s, preview %s", count(made.Slides, "slide"), made.ResultPath, made.PreviewPath))
	for _, format := range []string{"pptx", "pdf"} {
		r, err := d.deckTask(ctx, t, "deck-"+format+"-"+stamp, task.Export, map[string]string{"deck_id": made.DeckID, "format": format})
		if err != nil {
			return err
		}
		d.out.done(format, fmt.Sprintf("%s, %d KB, in the blob %s", count(r.Slides, "slide"), r.Bytes>>10, r.ResultPath))
		if r.URL != "" {
			d.out.line("  it can be downloaded until %s at\n  %s", r.Expires.Local().Format(time.DateTime), r.URL)
		}
	}
	return nil
}

// deckTask runs a task, and returns its result.
func (d *dev) deckTask(ctx context.Context, t *app.Tenant, id string, kind task.Type, payload map[string]string) (r deckResult, err error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return r, err
	}
	if _, err := t.Enqueue(ctx, task.Task{
		ID: id, Type: kind, Payload: raw, WebhookURL: d.receiver.URL, Priority: task.PriorityNormal, ClientID: clientID,
		RequestedBy: "dev",
	}); err != nil {
		return r, fmt.Errorf("send a task of %s: %w", kind, err)
	}
	if err := d.follow(ctx, t.Store, id); err != nil {
		return r, fmt.Errorf("%s (the worker's log is %s): %w", kind, d.home.rel(d.home.logPath("worker")), err)
	}
	got, err := d.webhook(ctx, id)
	if err != nil {
		return r, err
	}
	if err := decodeResult(got, &r); err != nil || got.Type != "task.completed" {
		return r, fmt.Errorf("the webhook of the %s task is %s", kind, got.Type)
	}
	return r, nil
}
