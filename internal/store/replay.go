package store

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrReplayed says that a dead letter's task was done again already, when and by whom.
	ErrReplayed = errors.New("store: it was done again already")
	// ErrExhausted says that a failed job has used all of its attempts (I6).
	ErrExhausted = errors.New("store: no attempt is left")
	// ErrNotFailed says that a job can't be queued again because it has not failed.
	ErrNotFailed = errors.New("store: only a failed job can be queued again")
)

// MaxPurge is the most dead letters that one Purge takes.
const MaxPurge = 500

// Replays are what people do with dead letters and failed jobs. A task that is done again is recorded
// with its message before that is sent, as in Submit: send it and call MarkSent, or a sweep will (I1).
type Replays interface {
	// PlanReplay says what a replay of a dead letter would be, and changes nothing. taskID is for a
	// letter that names no job. ErrNotFound.
	PlanReplay(ctx context.Context, deadLetterID, taskID string) (ReplayPlan, error)
	// Replay records a new job for a dead letter and notes it there. ErrReplayed unless r.Again; also
	// with it when somebody replayed the letter after the plan. ErrConflict when the planned id is taken
	// by now: plan again.
	Replay(ctx context.Context, r Replay) (ReplayAnswer, error)
	// PlanRequeue returns what is needed to write a job's message again. ErrNotFound.
	PlanRequeue(ctx context.Context, jobID string) (RequeuePlan, error)
	// Requeue queues a failed job again under its own id, as another series whose attempts count on from
	// the last. ErrNotFailed, ErrConflict when the message is of another payload; and, unless r.Force,
	// ErrExhausted and ErrReplayed.
	Requeue(ctx context.Context, r Requeue) (Job, error)
	// Purge removes up to MaxPurge dead letters for good and returns the ids of those that it removed. A
	// letter whose queue copy was not noted as sent stays for unsentFor after it was made: until then its
	// message may come again, and be recorded again.
	Purge(ctx context.Context, ids []string, unsentFor time.Duration) ([]string, error)
}

// ReplayPlan is what a replay of a dead letter would be.
type ReplayPlan struct {
	// JobID is that of the new job: the first job's id with ".r" and Number, or the task's own id when no
	// job has it.
	JobID       string `json:"job_id"`
	ParentJobID string `json:"parent_job_id"` // the job that the letter ended; empty: there is no such row
	Number      int    `json:"number"`        // 1 is the first replay of a line of jobs
	Replays     int    `json:"replays"`       // how often this letter was replayed so far
	WebhookURL  string `json:"webhook_url"`   // of the job that the letter ended
	Refusal     string `json:"refusal"`       // why it is refused without Again; empty: it is not
}

// Replay is a dead letter's task as a new job. Submission.JobID is the plan's.
type Replay struct {
	Submission
	DeadLetterID string `json:"id"`
	TaskID       string `json:"task_id,omitempty"` // as in the plan
	Replays      int    `json:"replays"`           // of the plan
	Again        bool   `json:"again,omitempty"`   // although the plan had a refusal
	By           string `json:"by"`                // who asks for it, for audit
}

// ReplayAnswer is the answer to Replay.
type ReplayAnswer struct {
	JobID       string `json:"job_id"`
	ParentJobID string `json:"parent_job_id"`
	Number      int    `json:"number"`
}

// RequeuePlan is what is known of a job's message.
type RequeuePlan struct {
	Recorded
	DeadLetter string `json:"dead_letter"`      // id of the one that ended it; empty: none, or purged
	Original   string `json:"original_message"` // of that dead letter
}

// Requeue is a failed job to be queued again. Submission.JobID is its id.
type Requeue struct {
	Submission
	Force bool   `json:"force,omitempty"` // attempts begin again at none, and a replay is not an obstacle
	By    string `json:"by"`
}

// DeadLetterCursor is a place in a listing.
type DeadLetterCursor struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// Cursor returns the place of d: as DeadLetterFilter.After, the listing goes on behind it.
func (d DeadLetter) Cursor() *DeadLetterCursor { return &DeadLetterCursor{At: d.CreatedAt, ID: d.ID} }
