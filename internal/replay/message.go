package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// inline is the most bytes of a message that is sent as it is; a larger one becomes a claim check. A
// queue holds 64 KiB, and a third less of a text that it has to keep as base64.
const inline = 48 << 10

const mendIt = "mend the message and give it with --message FILE; async-worker dlq show prints the original"

// taskOf is the task of a dead letter: its original message's, or the one given instead.
func (r Replayer) taskOf(ctx context.Context, d store.DeadLetter, o Options) (task.Task, error) {
	if d.Reason == string(task.WrongClient) { // I10: whatever it says, it is not ours
		return task.Task{}, wrongClient(d.ID)
	}
	if o.Message != nil {
		t := *o.Message
		t.Hints.Force = t.Hints.Force || o.Force
		return t, nil
	}
	t, err := r.read(ctx, d.Original)
	if err != nil {
		invalid, ok := errors.AsType[*task.Invalid](err)
		switch {
		case ok && (invalid.Reason == task.WrongClient || invalid.Known.OtherClient):
			return t, wrongClient(d.ID)
		case ok:
			return t, &Refusal{fmt.Sprintf("the message of dead letter %s is no task: %v", d.ID, invalid), mendIt}
		case errors.Is(err, blob.ErrNotFound):
			return t, &Refusal{fmt.Sprintf("the blob with the message of dead letter %s (a claim check) is not there", d.ID), "put the blob back, or give the message with --message FILE"}
		}
		return t, fmt.Errorf("read the message of dead letter %s: %w", d.ID, err)
	}
	t.Hints.Force = t.Hints.Force || o.Force
	return t, nil
}

func wrongClient(id string) error {
	return &Refusal{fmt.Sprintf("the message of dead letter %s is another client's; it is never replayed here", id), "let its sender put it on the queue of its own client"}
}

// messageOf is the message of a failed job: the original one as long as its dead letter has it, else one
// made of the row.
func (r Replayer) messageOf(ctx context.Context, p store.RequeuePlan) (task.Task, string, error) {
	if job.State(p.Job.Status) != job.Failed {
		return task.Task{}, "", fmt.Errorf("%w: job %s is %s", store.ErrNotFailed, p.Job.ID, p.Job.Status)
	}
	if p.Original == "" {
		return r.rewrite(ctx, p)
	}
	t, err := r.read(ctx, p.Original)
	if _, ok := errors.AsType[*task.Invalid](err); ok || (err == nil && t.ID != p.Job.ID) || errors.Is(err, blob.ErrNotFound) {
		why := "it is of another task id"
		if err != nil {
			why = err.Error()
		}
		return t, "", &Refusal{fmt.Sprintf("the message of job %s can't be sent again: %s", p.Job.ID, why), "mend it and replay it: async-worker dlq replay " + p.DeadLetter + " --message FILE"}
	}
	if err != nil {
		return t, "", fmt.Errorf("read the message of job %s: %w", p.Job.ID, err)
	}
	return t, p.Original, nil
}

// rewrite makes a task and its message of a job's row.
func (r Replayer) rewrite(ctx context.Context, p store.RequeuePlan) (task.Task, string, error) {
	fields := map[string]any{"task_id": p.Job.ID, "task_type": p.Job.Type, "payload": p.Job.Payload, "hints": p.Job.Hints, "priority": p.Job.Priority}
	for name, value := range map[string]string{"webhook_url": p.WebhookURL, "requested_by": p.Job.RequestedBy, "traceparent": p.TraceParent} {
		if value != "" {
			fields[name] = value
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return task.Task{}, "", fmt.Errorf("write the message of job %s: %w", p.Job.ID, err)
	}
	decoded, err := task.Decode(string(text), task.Options{ClientID: r.ClientID, Claimed: true})
	if err != nil {
		return task.Task{}, "", &Refusal{fmt.Sprintf("the row of job %s makes no message: %v", p.Job.ID, err), "enqueue the task under another id"}
	}
	message, err := r.write(ctx, decoded.Task)
	return decoded.Task, message, err
}

// read decodes a message, out of its blob when it is a claim check. The error is a *task.Invalid,
// blob.ErrNotFound, or the bucket's.
func (r Replayer) read(ctx context.Context, text string) (task.Task, error) {
	decoded, err := task.Decode(text, task.Options{ClientID: r.ClientID})
	if err != nil || decoded.ClaimCheck == "" {
		return decoded.Task, err
	}
	if err := blob.CheckName(decoded.ClaimCheck); err != nil {
		return task.Task{}, &task.Invalid{Reason: task.InvalidField, Field: "claim_check.blob", Problem: "is not the name of a blob", Remedy: err.Error()}
	}
	_, body, err := r.Bucket.Open(ctx, decoded.ClaimCheck)
	if err != nil {
		return task.Task{}, fmt.Errorf("open the claim check's blob: %w", err)
	}
	defer body.Close()
	claimed, err := io.ReadAll(io.LimitReader(body, task.MaxBytes+1))
	if err != nil {
		return task.Task{}, fmt.Errorf("read the claim check's blob: %w", err)
	}
	decoded, err = task.Decode(string(claimed), task.Options{ClientID: r.ClientID, Claimed: true})
	return decoded.Task, err
}

// write makes a task's message, a claim check when it is large. Its blob's name is a new one: another
// replay that plans the same id must not change what this message stands for.
func (r Replayer) write(ctx context.Context, t task.Task) (string, error) {
	text, err := task.Encode(t)
	if err != nil || len(text) <= inline {
		return text, err
	}
	name := fmt.Sprintf("tasks/%s-%s.json", t.ID, uuid.NewString())
	if _, err := r.Bucket.Put(ctx, name, strings.NewReader(text), "application/json"); err != nil {
		return "", fmt.Errorf("put the message of job %s, which is too large for the queue, into a blob: %w", t.ID, err)
	}
	claim, err := json.Marshal(map[string]any{
		"task_id": t.ID, "task_type": t.Type, "claim_check": map[string]string{"blob": name},
	})
	if err != nil {
		return "", fmt.Errorf("write the claim check of job %s: %w", t.ID, err)
	}
	return string(claim), nil
}
