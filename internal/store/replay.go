package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrReplayed says that a dead letter was replayed before, when and by whom.
	ErrReplayed = errors.New("store: it was done again already")
	// ErrExhausted says that a failed job has used all of its attempts (I6).
	ErrExhausted = errors.New("store: no attempt is left")
	// ErrNotFailed says that a job can't be queued again because it has not failed.
	ErrNotFailed = errors.New("store: only a failed job can be queued again")
)

// MaxPurge is how many dead letters one Purge may name.
const MaxPurge = 500

// Replays are what people do with dead letters and failed jobs. As in Submit, the message is recorded before it is
// sent: send it and call MarkSent, or a sweep will (I1).
type Replays interface {
	// PlanReplay returns what a replay of a dead letter would be, and changes nothing. taskID is for a letter that
	// names no job. ErrNotFound.
	PlanReplay(ctx context.Context, deadLetterID, taskID string) (ReplayPlan, error)
	// Replay records a new job for a dead letter, and the replay in the letter. ErrReplayed unless r.Again, and always
	// if the letter was replayed after the plan. ErrConflict if a job has taken the planned id: plan again.
	Replay(ctx context.Context, r Replay) (ReplayAnswer, error)
	// PlanRequeue returns what is needed to write a job's message again. ErrNotFound.
	PlanRequeue(ctx context.Context, jobID string) (RequeuePlan, error)
	// Requeue queues a failed job again under its own id, as another series that continues the count of attempts.
	// ErrNotFailed, ErrConflict if the message has another payload, and, unless r.Force, ErrExhausted and ErrReplayed.
	Requeue(ctx context.Context, r Requeue) (Job, error)
	// Purge removes up to MaxPurge dead letters for good and returns the ids of those that it removed. It keeps a
	// letter whose queue copy is not marked as sent until unsentFor after it was made: until then its message may come
	// again, and would be recorded again.
	Purge(ctx context.Context, ids []string, unsentFor time.Duration) ([]string, error)
}

// ReplayPlan is what a replay of a dead letter would be.
type ReplayPlan struct {
	// JobID is the new job's: the first job's id with ".r" and Number, or the task's own id if no job has it.
	JobID       string `json:"job_id"`
	ParentJobID string `json:"parent_job_id"` // the job that the letter ended; empty: there is no such row
	Number      int    `json:"number"`        // 1 is the first replay of a line of jobs
	Replays     int    `json:"replays"`       // number of replays of this letter so far
	WebhookURL  string `json:"webhook_url"`   // of the job that the letter ended
	Refusal     string `json:"refusal"`       // why Replay refuses it without Again; empty: it doesn't
}

// Replay is a dead letter's task as a new job. Submission.JobID is the plan's.
type Replay struct {
	Submission
	DeadLetterID string `json:"id"`
	TaskID       string `json:"task_id,omitempty"` // as in the plan
	Replays      int    `json:"replays"`           // of the plan
	Again        bool   `json:"again,omitempty"`   // despite the plan's Refusal
	By           string `json:"by"`                // the person, for audit
}

// ReplayAnswer is the answer to Replay.
type ReplayAnswer struct {
	JobID       string `json:"job_id"`
	ParentJobID string `json:"parent_job_id"`
	Number      int    `json:"number"`
}

// RequeuePlan is what the store has of a job's message.
type RequeuePlan struct {
	Recorded
	DeadLetter string `json:"dead_letter"`      // id of the job's dead letter; empty: none, or purged
	Original   string `json:"original_message"` // of that dead letter
}

// Requeue is a failed job to queue again. Submission.JobID is its id.
type Requeue struct {
	Submission
	Force bool   `json:"force,omitempty"` // count attempts from zero, and ignore a replay
	By    string `json:"by"`
}

// DeadLetterCursor is a place in a listing.
type DeadLetterCursor struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Cursor returns the place of d, for DeadLetterFilter.After.
func (d DeadLetter) Cursor() *DeadLetterCursor { return &DeadLetterCursor{At: d.CreatedAt, ID: d.ID} }
