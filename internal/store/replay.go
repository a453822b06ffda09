package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrReplayed means that a dead letter was replayed already. The error says when and by whom.
	ErrReplayed = errors.New("it was replayed already")
	// ErrExhausted means that a failed job has no attempt left (I6).
	ErrExhausted = errors.New("no attempt is left")
	// ErrNotFailed means that a job can't be queued again because it has not failed.
	ErrNotFailed = errors.New("only a failed job can be queued again")
)

// MaxPurge is the limit of dead letters in one Purge.
const MaxPurge = 500

// Replays are the operations of people on dead letters and failed jobs. They record a task with its message before the
// caller sends it, as Submit does. The caller then calls MarkSent, else a sweep sends the message (I1).
type Replays interface {
	// PlanReplay returns what a replay of a dead letter would record, and changes nothing. taskID is for a dead letter
	// without a job. ErrNotFound.
	PlanReplay(ctx context.Context, deadLetterID, taskID string) (ReplayPlan, error)
	// Replay records a new job for a dead letter, and the replay in the dead letter. ErrReplayed unless r.Again, and in
	// any case if it was replayed after the plan. ErrConflict if another job has the planned id by now: plan again.
	Replay(ctx context.Context, r Replay) (ReplayAnswer, error)
	// PlanRequeue returns the parts of a job's message. ErrNotFound.
	PlanRequeue(ctx context.Context, jobID string) (RequeuePlan, error)
	// Requeue queues a failed job again under its own id, as another series that continues the count of attempts.
	// ErrNotFailed, ErrConflict if the message has another payload; and, unless r.Force, ErrExhausted and ErrReplayed.
	Requeue(ctx context.Context, r Requeue) (Job, error)
	// Purge removes up to MaxPurge dead letters for good, and returns the ids of the removed ones. It keeps one whose
	// copy was not recorded as sent until it is unsentFor old: until then its message may come and record it again.
	Purge(ctx context.Context, ids []string, unsentFor time.Duration) ([]string, error)
}

// ReplayPlan is what a replay of a dead letter would record.
type ReplayPlan struct {
	// JobID is the new job's: the first job's id with ".r" and Number, or the task's own id if no job has it.
	JobID       string `json:"job_id"`
	ParentJobID string `json:"parent_job_id"` // the job of the dead letter; empty: it has none
	Number      int    `json:"number"`        // of the replay, from 1
	Replays     int    `json:"replays"`       // of this dead letter so far
	WebhookURL  string `json:"webhook_url"`   // of the job of the dead letter
	Refusal     string `json:"refusal"`       // why it needs Again; empty: it does not
}

// Replay is a dead letter's task as a new job. Submission.JobID is the plan's.
type Replay struct {
	Submission
	DeadLetterID string `json:"id"`
	TaskID       string `json:"task_id,omitempty"` // as in the plan
	Replays      int    `json:"replays"`           // of the plan
	Again        bool   `json:"again,omitempty"`   // despite the plan's refusal
	By           string `json:"by"`                // the requester, for audit
}

// ReplayAnswer is the answer to Replay.
type ReplayAnswer struct {
	JobID       string `json:"job_id"`
	ParentJobID string `json:"parent_job_id"`
	Number      int    `json:"number"`
}

// RequeuePlan is what is recorded of a job's message.
type RequeuePlan struct {
	Recorded
	DeadLetter string `json:"dead_letter"`      // id of its dead letter; empty: none, or purged
	Original   string `json:"original_message"` // of that dead letter
}

// Requeue is a failed job to be queued again. Submission.JobID is its id.
type Requeue struct {
	Submission
	ResetAttempts bool   `json:"anew,omitempty"`
	Force         bool   `json:"force,omitempty"` // reset the attempts, and ignore that the dead letter was replayed
	By            string `json:"by"`
}

// DeadLetterCursor is a place in a listing.
type DeadLetterCursor struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Cursor returns the place of d in a listing, for DeadLetterFilter.After.
func (d DeadLetter) Cursor() *DeadLetterCursor { return &DeadLetterCursor{At: d.CreatedAt, ID: d.ID} }
