package devstack

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

const (
	documentSet = "harbour"
	question    = "At what wind speed are the quay cranes parked and pinned to the rail?"
)

// samples are the documents of the tour, in dev/samples.
var samples = []string{
	"harbour-handbook.pdf", "pilot-boat-care.docx", "marina-guests.html", "first-week.md", "berths.csv",
}

// tour shows what the worker does, with real tasks. It fails when a result is missing.
func (d *dev) tour(ctx context.Context, t *app.Tenant) error {
	began := time.Now()
	stamp := strings.ToLower(rand.Text()[:6]) // each run has its own tasks
	chunks, err := d.ingestSamples(ctx, t, stamp)
	if err != nil {
		return err
	}
	for _, show := range []func(context.Context, *app.Tenant, string) error{
		d.failOne, d.ask, d.askAgent, d.summarize, d.convertInvoice, d.makeDeck, d.fireSchedule,
	} {
		if err := show(ctx, t, stamp); err != nil {
			return err
		}
	}
	d.out.section("All of it worked")
	d.out.done("tour", fmt.Sprintf("%s in %s, %s, 1 dead letter, 1 search, 1 answer, 1 summary, 1 invoice as XML, 1 deck, 1 schedule, in %.1f s",
		count(len(samples), "document"), count(chunks, "chunk"), count(d.receiver.Count(), "verified webhook"),
		time.Since(began).Seconds()))
	return nil
}

// ingestSamples returns the number of chunks.
func (d *dev) ingestSamples(ctx context.Context, t *app.Tenant, stamp string) (chunks int, err error) {
	d.out.section("Five documents go in: uploaded to blob storage, enqueued, ingested")
	if err := t.Bucket.Ensure(ctx); err != nil {
		return 0, fmt.Errorf("create the container: %w", err)
	}
	var ids []string
	for _, name := range samples {
		id, err := d.send(ctx, t, name, stamp)
		if err != nil {
			return 0, fmt.Errorf("send %s: %w", name, err)
		}
		ids = append(ids, id)
	}
	if err := d.follow(ctx, t.Store, ids...); err != nil {
		return 0, fmt.Errorf("ingest the samples (the worker's log is %s): %w", d.home.rel(d.home.logPath("worker")),
			err)
	}
	for _, id := range ids {
		got, err := d.webhook(ctx, id)
		if err != nil {
			return 0, err
		}
		if got.Type != "task.completed" {
			return 0, fmt.Errorf("the webhook of task %s is %s", id, got.Type)
		}
		var r ingested
		if err := decodeResult(got, &r); err != nil {
			return 0, fmt.Errorf("read the webhook of task %s: %w", id, err)
		}
		chunks += r.Chunks
	}
	return chunks, nil
}

// send uploads a sample and enqueues its ingestion; it returns the task's id.
func (d *dev) send(ctx context.Context, t *app.Tenant, name, stamp string) (string, error) {
	f, err := os.Open(filepath.Join(d.home.root, "dev", "samples", name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	blob := "samples/" + name
	if _, err := t.Bucket.Put(ctx, blob, f, ""); err != nil {
		return "", fmt.Errorf("upload: %w", err)
	}
	payload, err := json.Marshal(map[string]any{
		"filename": name, "blob": blob, "document_set": documentSet,
		"metadata": map[string]string{"source": "dev/samples"},
	})
	if err != nil {
		return "", err
	}
	id := name + "-" + stamp
	_, err = t.Enqueue(ctx, task.Task{
		ID: id, Type: task.Ingest, Payload: payload, WebhookURL: d.receiver.URL, Priority: task.PriorityNormal,
		ClientID: clientID, RequestedBy: "dev",
	})
	return id, err
}

// failOne sends an invalid task, as a frontend with a bug would, and shows its dead letter.
func (d *dev) failOne(ctx context.Context, t *app.Tenant, stamp string) error {
	d.out.section("A task that can't be done: an ingest that names no file")
	id := "mistake-" + stamp
	message, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": task.Ingest, "payload": map[string]string{"document_set": documentSet},
		"webhook_url": d.receiver.URL,
	})
	if err != nil {
		return err
	}
	if _, err := t.Queues.Normal.Send(ctx, string(message), queue.SendOptions{}); err != nil {
		return fmt.Errorf("send the bad task: %w", err)
	}
	got, err := d.webhook(ctx, id)
	if err != nil {
		return err
	}
	if got.Type != "task.failed" {
		return fmt.Errorf("the webhook of the bad task is %s", got.Type)
	}
	letters, err := t.Store.DeadLetters(ctx, store.DeadLetterFilter{JobID: id, Limit: 10})
	if err != nil {
		return fmt.Errorf("list the dead letters: %w", err)
	}
	if len(letters) != 1 {
		return fmt.Errorf("the bad task is in the dead letters %d times, not once", len(letters))
	}
	l := letters[0]
	d.out.done("dead letter", fmt.Sprintf("%s: %s, %s: %s", l.ID, l.Reason, l.ErrorClass, l.ErrorMessage))
	return nil
}

func (d *dev) ask(ctx context.Context, t *app.Tenant, _ string) error {
	d.out.section("A question: " + question)
	found, err := t.Find(ctx, t.Store, search.Query{Text: question, Limit: 1, DocumentSet: documentSet})
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	hits := found.Hits
	if len(hits) == 0 {
		return errors.New("the search found nothing")
	}
	if h := hits[0]; h.Filename == "" || len(h.Pages) == 0 || len(h.HeadingPath) == 0 {
		return fmt.Errorf("the hit lacks a file, page or heading: %q, pages %v, headings %q", h.Filename,
			h.Pages, h.HeadingPath)
	}
	return d.ShowHits(d.Stdout, hits)
}

// ingested is the part of a result that the tour shows.
type ingested struct {
	Filename  string `json:"filename"`
	Pages     int    `json:"pages"`
	Chunks    int    `json:"chunks"`
	Unchanged bool   `json:"unchanged"`
}
