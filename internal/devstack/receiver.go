package devstack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// webhook waits for the verified webhook of a task, for two minutes at most.
func (d *dev) webhook(ctx context.Context, taskID string) (receiver.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	return d.receiver.Await(ctx, taskID)
}

// decodeResult decodes the result of a task in its webhook.
func decodeResult(w receiver.Delivery, into any) error {
	return json.Unmarshal(w.Body, &struct {
		Result any `json:"result"`
	}{into})
}

// showWebhook prints a webhook when it arrives.
func (d *dev) showWebhook(w receiver.Delivery) {
	about := []string{w.TaskID}
	var r ingested
	_ = decodeResult(w, &r) // empty for other task types
	switch {
	case w.Error.Code != "":
		about = append(about, w.Error.Code+": "+w.Error.Message)
	case r.Filename != "":
		if r.Pages > 0 {
			about = append(about, count(r.Pages, "page"))
		}
		if r.Chunks > 0 {
			about = append(about, count(r.Chunks, "chunk"))
		}
		if r.Unchanged {
			about = append(about, "unchanged since last time")
		}
	}
	d.out.done("webhook", fmt.Sprintf("%s, signature verified: %s", w.Type, strings.Join(about, ", ")))
}
