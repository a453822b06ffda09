package store

import "time"

// SweepAges says for how long, by the database's clock, a job must have waited to be swept.
type SweepAges struct {
	// UnsentFor is how long ago a message was recorded that was never marked sent.
	UnsentFor time.Duration
	// StalledFor is how long ago the job should have been picked up again: its lease ended, its retry was
	// due, or it was given back.
	StalledFor time.Duration
	// UnstartedFor is the same for a job that was sent and that nobody ever began: it may just be waiting its
	// turn.
	UnstartedFor time.Duration
	// AgainAfter is how long after a message that a sweep sent another one may be.
	AgainAfter time.Duration
}

// SweepAnswer is what a sweep finds.
type SweepAnswer struct {
	Unsent  []Unsent  `json:"unsent"`
	Stalled []Stalled `json:"stalled"`
}

// Unsent is a message that a sweep sends again.
type Unsent struct {
	JobID   string `json:"job_id"`
	Queue   string `json:"queue"`
	Message string `json:"message"`
}

// Stalled is a job that waits for a message which should have come long ago.
type Stalled struct {
	Recorded
	Fingerprint string    `json:"fingerprint"`
	Fence       int64     `json:"fence"`
	WorkerLost  bool      `json:"worker_lost"` // its lease ran out, rather than that it waits for a retry or its turn
	Since       time.Time `json:"since"`
}

// Recorded is what a job's row says of its message.
type Recorded struct {
	Job         Job    `json:"job"`
	WebhookURL  string `json:"webhook_url"`
	TraceParent string `json:"traceparent"`
}

// Resend is another message of a stalled job.
type Resend struct {
	JobID   string    `json:"job_id"`
	Fence   int64     `json:"fence"`   // as Sweep found it
	Queue   string    `json:"queue"`   // where the message goes
	Message string    `json:"message"` // empty: there is none to send; the job is only left alone for AgainAfter
	Ages    SweepAges `json:"-"`       // as in Sweep; sent in milliseconds
}
