package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/ocr/ocrtest"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// heard is a lifecycle event as nats-py read it.
type heard struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Subject string `json:"subject"`
	Data    struct {
		Tenant   string `json:"tenant_id"`
		Original string `json:"original_message"`
	} `json:"data"`
}

// hear returns the events of the stream up to the first of a type.
func (c natsClient) hear(last string) (all []heard) {
	c.t.Helper()
	for line := range strings.Lines(c.python("", "hear", last)) {
		var e heard
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			c.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, e)
	}
	return all
}

// natsEvents: a subscriber of the lifecycle events hears a job fail, publishes the task of its ocr.dlq again with force
// once the document is there, and hears it succeed.
func natsEvents(t *testing.T) {
	ocrtest.Need(t, "tesseract", "pdftoppm", "pdftotext", "pdfinfo")
	c := newNATSClient(t)
	c.env = append(c.env, "EVENTS_URL="+c.url)
	events := jetstream.StreamConfig{Name: "EVENTS", Subjects: []string{"ocr.>"}}
	if _, err := natstest.Connect(t, c.url).CreateStream(c.ctx, events); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.publish("", `{"task_id":"late","task_type":"ocr","payload":{"filename":"late.pdf"}}`)
	failed := c.hear("ocr.dlq")
	var task map[string]any
	letter := failed[len(failed)-1].Data.Original
	if err := json.Unmarshal([]byte(letter), &task); err != nil {
		t.Fatalf("%v: %q", err, letter)
	}
	task["hints"] = map[string]any{"force": true}
	again, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	page := ocrtest.Page{Image: ocrtest.Scan(t, 0, "The harbour master keeps a record").Gray}
	scan, err := os.ReadFile(ocrtest.Write(t, page))
	if err == nil {
		err = os.WriteFile(filepath.Join(c.folder, "late.pdf"), scan, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.publish("", string(again))
	all := c.hear("ocr.job.completed")
	var story []string
	ids := map[string]bool{}
	for _, e := range all {
		if e.Subject != "late" || e.Data.Tenant != c.client || ids[e.ID] {
			t.Errorf("%+v: want an event of the job, once", e)
		}
		ids[e.ID] = true
		if e.Type != "ocr.job.progress" {
			story = append(story, e.Type)
		}
	}
	want := []string{"ocr.job.started", "ocr.job.failed", "ocr.dlq", "ocr.job.started", "ocr.job.completed"}
	if !slices.Equal(story, want) || len(all) == len(story) {
		t.Errorf("%d events, without progress %v; want %v, with progress", len(all), story, want)
	}
}
