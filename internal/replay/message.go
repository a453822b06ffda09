package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

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
			return t, &Refusal{fmt.Sprintf("the message of dead letter %s is not a task: %v", d.ID, invalid), mendIt}
		case errors.Is(err, blob.ErrNotFound):
			return t, &Refusal{
				fmt.Sprintf("the blob with the message of dead letter %s (a claim check) is not there", d.ID),
				"put the blob back, or give the message with --message FILE",
			}
		}
		return t, fmt.Errorf("read the message of dead letter %s: %w", d.ID, err)
	}
	t.Hints.Force = t.Hints.Force || o.Force
	return t, nil
}

// payload returns the payload of a task that was done under one id and is done again as another: an xml task that names no
// document reads the one that it read before, which has the id of the first job of its line.
func (r Replayer) payload(ctx context.Context, t task.Task, before, now string) (json.RawMessage, error) {
	if t.Type != task.XML || before == now {
		return t.Payload, nil
	}
	for {
		j, err := r.Store.Job(ctx, before)
		switch {
		case errors.Is(err, store.ErrNotFound): // its row was removed when its time was over
			return task.NameInvoice(t.Payload, before), nil
		case err != nil:
			return nil, fmt.Errorf("find the job whose document it reads: %w", err)
		case j.Replay == 0 || j.ParentJobID == "":
			return task.NameInvoice(t.Payload, before), nil
		}
		before = j.ParentJobID
	}
}

func wrongClient(id string) error {
	return &Refusal{
		fmt.Sprintf("the message of dead letter %s is another client's; it is never replayed here", id),
		"let its sender put it on the queue of its own client",
	}
}

// messageOf is the message of a failed job: the original one as long as its dead letter has it, else one
// made of the row. Of an original that is too large for the queue it is a claim check.
func (r Replayer) messageOf(ctx context.Context, p store.RequeuePlan) (task.Task, string, error) {
	if job.State(p.Job.Status) != job.Failed {
		return task.Task{}, "", fmt.Errorf("%w: job %s is %s", store.ErrNotFailed, p.Job.ID, p.Job.Status)
	}
	if p.Original == "" {
		return r.rewrite(ctx, p)
	}
	t, err := r.read(ctx, p.Original)
	if _, ok := errors.AsType[*task.Invalid](err); ok || (err == nil && t.ID != p.Job.ID) ||
		errors.Is(err, blob.ErrNotFound) {
		why := "it is of another task id"
		if err != nil {
			why = err.Error()
		}
		return t, "", &Refusal{
			fmt.Sprintf("the message of job %s can't be sent again: %s", p.Job.ID, why),
			"mend it and replay it: async-worker dlq replay " + p.DeadLetter + " --message FILE",
		}
	}
	if err != nil {
		return t, "", fmt.Errorf("read the message of job %s: %w", p.Job.ID, err)
	}
	text, err := task.Unmoved(p.Original)
	if err != nil {
		return t, "", err
	}
	text, err = message.Fit(ctx, r.Bucket, t, text)
	return t, text, err
}

// rewrite makes a task and its message of a job's row.
func (r Replayer) rewrite(ctx context.Context, p store.RequeuePlan) (task.Task, string, error) {
	t, err := message.Task(p.Recorded, r.ClientID)
	if err != nil {
		return task.Task{}, "", &Refusal{
			fmt.Sprintf("the row of job %s makes no message: %v", p.Job.ID, err), "enqueue the task under another id",
		}
	}
	text, err := message.Write(ctx, r.Bucket, t)
	return t, text, err
}

// read decodes a message, out of its blob when it is a claim check. The error is a *task.Invalid,
// blob.ErrNotFound, or the bucket's.
func (r Replayer) read(ctx context.Context, text string) (task.Task, error) {
	decoded, err := task.Decode(text, task.Options{ClientID: r.ClientID})
	if err != nil || decoded.ClaimCheck == "" {
		return decoded.Task, err
	}
	if err := blob.CheckName(decoded.ClaimCheck); err != nil {
		return task.Task{}, &task.Invalid{
			Reason: task.InvalidField, Field: "claim_check.blob", Problem: "is not the name of a blob",
			Remedy: err.Error(),
		}
	}
	claimed, err := blob.Read(ctx, r.Bucket, decoded.ClaimCheck, task.MaxBytes+1)
	if err != nil {
		return task.Task{}, fmt.Errorf("read the claim check's blob: %w", err)
	}
	decoded, err = task.Decode(string(claimed), task.Options{ClientID: r.ClientID, FromClaimCheck: true})
	return decoded.Task, err
}
