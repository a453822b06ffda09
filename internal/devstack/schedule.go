package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	noticesPrefix = "notices/"
	noticesCron   = "@every 2s"
	// firingTimeout bounds the wait for a schedule that is due in two seconds, on a slow and busy machine.
	firingTimeout = time.Minute
	lookEvery     = 100 * time.Millisecond
)

// fired is the part of a job of the API that the tour shows.
type fired struct {
	ID     string          `json:"id"`
	Parent string          `json:"parentJobId"`
	Result json.RawMessage `json:"result"`
}

// fireSchedule adds a schedule that ingests what is new in a folder, lets it fire, and removes it.
func (d *dev) fireSchedule(ctx context.Context, t *app.Tenant, stamp string) (err error) {
	d.out.section("A schedule: every two seconds, ingest what is new in the folder " + noticesPrefix)
	notice := "# Notice\n\nThe lock is closed for the night of run " + stamp + ".\n"
	if _, err := t.Bucket.Put(ctx, noticesPrefix+"lock.md", strings.NewReader(notice), "text/markdown"); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	id := "notices-" + stamp
	if err := d.api.call(ctx, http.MethodPost, "/v1/schedules", map[string]any{
		"id": id, "cron": noticesCron, "task": map[string]any{
			"type": task.Ingest, "webhookUrl": d.receiver.URL,
			"payload": map[string]string{"prefix": noticesPrefix, "document_set": documentSet},
		},
	}, nil); err != nil {
		return fmt.Errorf("add a schedule: %w", err)
	}
	d.out.done("schedule", fmt.Sprintf("%s, %q, added", id, noticesCron))
	waitErr := d.awaitChild(ctx, id)
	if err := d.api.call(ctx, http.MethodDelete, "/v1/schedules/"+id, nil, nil); err != nil {
		return errors.Join(waitErr, fmt.Errorf("remove the schedule: %w", err))
	}
	if waitErr != nil {
		return fmt.Errorf("await a firing (the worker's log is %s): %w", d.home.rel(d.home.logPath("worker")), waitErr)
	}
	return d.showFirings(ctx, t, id)
}

// awaitChild waits until a firing has found the new document.
func (d *dev) awaitChild(ctx context.Context, schedule string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, firingTimeout, errors.New("the schedule did not fire"))
	defer cancel()
	for {
		made, err := d.firings(ctx, schedule)
		if err != nil {
			return err
		}
		for _, j := range made {
			if j.Parent != "" {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
}

// firings are the jobs of a schedule's firings, and the jobs that those have submitted.
func (d *dev) firings(ctx context.Context, schedule string) ([]fired, error) {
	var list struct {
		Items []fired `json:"items"`
	}
	err := d.api.call(ctx, http.MethodGet, "/v1/jobs?requestedBy="+url.QueryEscape("schedule "+schedule), nil, &list)
	return list.Items, err
}

// showFirings waits for the jobs of a schedule that is removed, and shows what came of them.
func (d *dev) showFirings(ctx context.Context, t *app.Tenant, schedule string) error {
	made, err := d.firings(ctx, schedule)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(made))
	for _, j := range made {
		ids = append(ids, j.ID)
	}
	if err := d.follow(ctx, t.Store, ids...); err != nil {
		return fmt.Errorf("what a schedule fired (the worker's log is %s): %w", d.home.rel(d.home.logPath("worker")), err)
	}
	if made, err = d.firings(ctx, schedule); err != nil { // with their results
		return err
	}
	firings, submitted := 0, 0
	for _, j := range made {
		if j.Parent != "" {
			continue
		}
		var r struct {
			Submitted int `json:"submitted"`
		}
		if err := json.Unmarshal(j.Result, &r); err != nil {
			return fmt.Errorf("read the result of job %s: %w", j.ID, err)
		}
		if _, err := d.webhook(ctx, j.ID); err != nil {
			return err
		}
		firings, submitted = firings+1, submitted+r.Submitted
	}
	if submitted != 1 {
		return fmt.Errorf("the schedule ingested one new document %d times", submitted)
	}
	d.out.done("schedule", fmt.Sprintf("%s, 1 new document ingested by a job of its own; the schedule is removed",
		count(firings, "firing")))
	return nil
}
