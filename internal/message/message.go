// Package message makes the message of a task: of the task itself, or of what a job's row keeps of it.
package message

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// inline is the most bytes of a message that is sent as it is; a larger one becomes a claim check. A
// queue holds 64 KiB, and a third less of a text that it has to keep as base64.
const inline = 48 << 10

// blobOf matches the names that put gives: the id and the hash of the text.
var blobOf = pattern.New(`^` + blob.MessageFolder + `(.+)-[0-9a-f]{64}\.json$`)

// JobOf returns the id of the job whose message put has put into a blob, by the blob's name. Those that senders wrote
// have other names.
func JobOf(blobName string) (id string, ok bool) {
	if m := blobOf.FindStringSubmatch(blobName); m != nil {
		return m[1], true
	}
	return "", false
}

// Task makes a task of a job's row. The error is a *task.Invalid when the row makes none.
func Task(r store.Recorded, clientID string) (task.Task, error) {
	fields := map[string]any{
		"task_id": r.Job.ID, "task_type": r.Job.Type, "payload": r.Job.Payload, "hints": r.Job.Hints,
		"priority": r.Job.Priority,
	}
	for name, value := range map[string]string{
		"webhook_url": r.WebhookURL, "requested_by": r.Job.RequestedBy,
		"traceparent": r.TraceParent,
	} {
		if value != "" {
			fields[name] = value
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return task.Task{}, fmt.Errorf("write the message of job %s: %w", r.Job.ID, err)
	}
	decoded, err := task.Decode(string(text), task.Options{ClientID: clientID, FromClaimCheck: true})
	return decoded.Task, err
}

// Record makes what the row of a new job records of a task.
func Record(t task.Task, maxAttempts int) store.Task {
	hints, err := json.Marshal(t.Hints)
	if err != nil {
		hints = nil // no field of Hints can fail
	}
	return store.Task{
		JobID: t.ID, Type: string(t.Type), Payload: t.Payload, Hints: hints, Priority: string(t.Priority),
		WebhookURL: t.WebhookURL, WebhookEvents: t.WebhookEvents, RequestedBy: t.RequestedBy, TraceParent: t.TraceParent,
		Fingerprint: task.Fingerprint(t), MaxAttempts: maxAttempts,
	}
}

// Write makes a task's message, a claim check in the bucket when it is large.
func Write(ctx context.Context, bucket blob.Bucket, t task.Task) (string, error) {
	text, err := task.Encode(t)
	if err != nil {
		return "", err
	}
	return Fit(ctx, bucket, t, text)
}

// Identified is a recorded message's text, or the claim check of it, with an identity that all copies of it share (I2).
// The sweeps of two workers may send it at once, and who can't note that it was sent sends it again; but a message with
// hints.force is to start one series, and not one for each copy.
func Identified(u store.Unsent, text string) string {
	if u.Since.IsZero() { // the schema is older than this program
		return text
	}
	named, err := task.Moved(text, task.Origin{
		Queue: u.Queue, MessageID: fmt.Sprintf("outbox:%s:%d", u.JobID, u.Since.UnixMilli()), InsertedAt: u.Since,
	})
	if err != nil {
		return text // it is not a task: who receives it says why
	}
	return named
}

// IdentifiedClaim is Identified for a message that its queue has refused as too large: a claim check.
func IdentifiedClaim(ctx context.Context, bucket blob.Bucket, u store.Unsent) (string, error) {
	claim, err := Claim(ctx, bucket, task.Task{ID: u.JobID}, Identified(u, u.Message))
	if err != nil {
		return "", err
	}
	return Identified(u, claim), nil
}

// Fit makes a message with the text of another one, as it is if it is not too large for a queue. Some queues deliver
// larger messages than they take from here: a sender wrote to the server itself. Of a larger one the blob of a claim
// check holds the text. Only the id and the type of the task are used.
func Fit(ctx context.Context, bucket blob.Bucket, t task.Task, text string) (string, error) {
	if len(text) <= inline {
		return text, nil
	}
	return put(ctx, bucket, t, text)
}

// Claim makes a claim check of a text of any size, for a queue that has refused it: its limit may be below that of Fit.
// A claim check stays as it is, since the blob of one can't hold another.
func Claim(ctx context.Context, bucket blob.Bucket, t task.Task, text string) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err == nil {
		if check := string(members["claim_check"]); check != "" && check != "null" {
			return text, nil
		}
	}
	return put(ctx, bucket, t, text)
}

// put puts a text into a blob and returns the claim check of it. The blob's name has the hash of the text: a repetition
// writes the same blob, and another message of the same id doesn't change what this one stands for.
func put(ctx context.Context, bucket blob.Bucket, t task.Task, text string) (string, error) {
	name := fmt.Sprintf(blob.MessageFolder+"%s-%x.json", t.ID, sha256.Sum256([]byte(text)))
	if _, err := bucket.Put(ctx, name, strings.NewReader(text), "application/json"); err != nil {
		return "", fmt.Errorf("put the message of job %s, which is too large for the queue, into a blob: %w", t.ID, err)
	}
	fields := map[string]any{"task_id": t.ID, "claim_check": map[string]string{"blob": name}}
	if t.Type != "" {
		fields["task_type"] = t.Type
	}
	claim, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("write the claim check of job %s: %w", t.ID, err)
	}
	return string(claim), nil
}
