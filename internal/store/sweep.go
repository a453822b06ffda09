package store

import "time"

// SweepAges are how long jobs must have waited, by the database's clock, for a sweep to find them.
type SweepAges struct {
	// UnsentFor is the age of a recorded message that was never marked sent.
	UnsentFor time.Duration
	// StalledFor is the time since the job should have been picked up: since its lease ended, its retry was due, or it
	// was given back.
	StalledFor time.Duration
	// UnstartedFor is the time since a job was sent that no worker has begun. It may just be waiting its turn.
	UnstartedFor time.Duration
	// AgainAfter is the time between two messages that sweeps send for a job.
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

// Stalled is a job whose message should have come long ago.
type Stalled struct {
	Recorded
	Fingerprint string    `json:"fingerprint"`
	Fence       int64     `json:"fence"`
	WorkerLost  bool      `json:"worker_lost"` // its lease has expired; false: it waits for a retry or its turn
	Since       time.Time `json:"since"`
}

// Recorded is what a job's row has of its message.
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
	Message string    `json:"message"` // empty: none can be sent, and sweeps skip the job for AgainAfter
	Ages    SweepAges `json:"-"`       // as in Sweep; sent in milliseconds
}
