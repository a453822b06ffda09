package store

import (
	"context"
	"errors"
	"time"
)

// ErrKeyUsed means that an idempotency key was used for another request.
var ErrKeyUsed = errors.New("the idempotency key was used for another request")

// ErrManyLater means that a job is to start later, and too many others are, too.
var ErrManyLater = errors.New("too many jobs wait for their time")

// Submissions record jobs for callers who repeat their requests.
type Submissions interface {
	// SubmitOnce records a pending job as Submit does, unless the request was made before; then it returns the job of
	// that time. One that was begun gets the message of a request with hints.force, once for each key. A second caller
	// with the key waits until the first one's job is recorded. ErrKeyUsed; ErrConflict if a job with another payload has
	// the id; ErrRunWaits if it has another run that waits, or is to be done again later and was not begun yet; *BusyError
	// if the document has MostActive active jobs; ErrManyLater if MostLater jobs wait for their time; ErrNotFound if the
	// request is only to be Repeated.
	SubmitOnce(ctx context.Context, s OnceSubmission) (OnceAnswer, error)
	// ForgetKeys removes idempotency keys older than olderThan, at most limit (10,000). It returns how many.
	ForgetKeys(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// OnceSubmission is a job recorded before its message is sent, and how to recognize a repeated request.
type OnceSubmission struct {
	Submission
	Key        string        // of the request: at most 64 characters; empty: the job's id alone tells
	Request    string        // hash of the request
	KeepKey    time.Duration // how long Key is remembered
	RunAt      time.Time     // a sweep sends the message then; zero: the caller sends it
	MostActive int           // jobs of the same type and document; zero: any number
	MostLater  int           // jobs that wait for their RunAt, about; zero: any number
	Repeated   bool          // the request was made before, or ErrNotFound: nothing is recorded
}

// OnceAnswer is the answer to SubmitOnce.
type OnceAnswer struct {
	Created bool `json:"created"` // false: the request was made before, or the job was submitted without its key
	Forced  bool `json:"forced"`  // not Created: the message was recorded for another run
	Sent    bool `json:"sent"`    // its message is on the queue already, or another caller sends it
	Job     Job  `json:"job"`     // as it was recorded; without payload, hints and result for a repeated key
}
